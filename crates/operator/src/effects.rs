//! How what a pass decides takes effect: it is sent to the two APIs, or it is foreseen and changes only our own picture.
//! The pass is the same in both cases; what it decides is `plan`'s.

use std::collections::BTreeMap;

use cf_api::budget::Class;
use plan::{Act, MemberId, Outcome, Read, ReadAnswer, Snapshot};

use crate::gather::Tokens;
use crate::pass::Context;
use crate::pass_time::PassTime;
use crate::preview::Foresight;
use crate::send::WriteError;
use crate::status::{StatusWriter, Writing};

/// How acts and reports take effect.
pub enum Effects {
    /// They are sent.
    Sent(Box<StatusWriter>),
    /// They are foreseen; nothing but reads leaves this process.
    Foreseen(Foresight),
}

impl Context {
    /// Carries out a read. What was foreseen is part of the answer.
    pub(crate) async fn read(
        &self,
        snapshot: &Snapshot,
        read: &Read,
        account: &str,
        tokens: &Tokens,
        time: &PassTime,
    ) -> ReadAnswer {
        match &self.effects {
            Effects::Sent(_) => self.sender.read(read, account, tokens, time).await,
            Effects::Foreseen(foresight) => match foresight.answer(snapshot, read) {
                Some(answer) => answer,
                None => {
                    let answer = self.sender.read(read, account, tokens, time).await;
                    foresight.corrected(snapshot, read, answer)
                }
            },
        }
    }

    /// Carries out an act, or foresees what comes of it.
    pub(crate) async fn act(
        &self,
        snapshot: &Snapshot,
        act: &Act,
        class: Class,
        tokens: &Tokens,
        time: &PassTime,
    ) -> Outcome {
        match &self.effects {
            Effects::Sent(_) => self.sender.act(act, class, tokens, time).await,
            Effects::Foreseen(foresight) => foresight.act(snapshot, act, &self.shared),
        }
    }

    /// Writes what a pass reports, or foresees it. Returns how each write failed.
    pub(crate) async fn tell(&self, writings: Vec<Writing<'_>>) -> BTreeMap<MemberId, WriteError> {
        match &self.effects {
            Effects::Sent(status) => status.write(writings).await,
            Effects::Foreseen(foresight) => foresight.tell(writings, &self.shared),
        }
    }
}
