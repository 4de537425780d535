//! How the members of a pass are gathered: those of a large unit in portions. Of ten thousand records nearly all are in
//! order; they leave as soon as the list that all share has shown it, so that a drift sweep never holds all of them at
//! once. Of those who stay at most a batch is taken in; they go through the rounds of the pass, in [`super`].

use std::collections::BTreeMap;

use jiff::Timestamp;
use kinds::{Key, Reason};
use plan::read::What;
use plan::{List, MemberId, Read, ReadAnswer};

use super::{Pass, hearing, settle};
use crate::limits::{OPEN_MAX, PORTION};
use crate::queue::{Again, Due, Slice};
use crate::{ages, gather};

/// How the members of a large unit are taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portions {
    /// So many at once.
    pub size: usize,
    /// Once so many have something to do, the others wait for the next pass.
    pub open: usize,
}

impl Default for Portions {
    fn default() -> Self {
        Self { size: PORTION, open: OPEN_MAX }
    }
}

/// The list that all members of a unit share, as it was read for the first portion.
enum Shared {
    Shown(List, Read),
    /// It concerns every member, and they are not all there yet.
    Failed(Read, ReadAnswer, Timestamp),
}

impl Pass<'_> {
    /// Fills the snapshot with the slice's members, but for those that are found in order on the way and those that have to
    /// wait for the next pass.
    pub(super) async fn gather(&mut self, slice: &Slice) {
        let due = self.in_order(slice);
        let Portions { size, open: most } = self.context.portions;
        let mut open = Vec::new();
        let mut shared = None;
        for (number, portion) in due.chunks(size.max(1)).enumerate() {
            if open.len() >= most && matches!(shared, Some(Shared::Shown(..))) {
                self.put_off(portion);
                continue;
            }
            self.take_in(portion, slice).await;
            if number == 0 && portion.len() < due.len() {
                shared = self.shared_list().await;
            }
            if let Some(Shared::Shown(list, read)) = &shared {
                list.show(&mut self.snapshot);
                hearing::note_read(&mut self.snapshot, read);
                self.let_go();
            }
            open.extend(std::mem::take(&mut self.snapshot.members));
        }
        self.snapshot.members = open.into_iter().collect();
        if let Some(Shared::Failed(read, answer, began)) = shared {
            self.fold(&read, answer, began);
        }
    }

    /// Members in the order in which plan takes them: whoever is most urgent pays for the list, and of two that want the
    /// same the older comes first.
    fn in_order<'s>(&self, slice: &'s Slice) -> Vec<(&'s MemberId, &'s Due)> {
        let mut due: Vec<_> = slice.members.iter().collect();
        let state = self.context.shared.lock();
        due.sort_by_cached_key(|(id, due)| (due.class, state.cache.created(id)));
        due
    }

    /// Leaves members to the unit's next pass.
    fn put_off(&mut self, portion: &[(&MemberId, &Due)]) {
        self.left.extend(portion.iter().map(|(id, due)| (MemberId::clone(id), Again::Now(due.class))));
    }

    /// Puts a portion into the snapshot, with all that Kubernetes knows around it.
    async fn take_in(&mut self, portion: &[(&MemberId, &Due)], slice: &Slice) {
        let (context, now) = (self.context, self.now());
        self.take_members(portion.iter().copied());
        let users = |secret: &Key| context.shared.lock().cache.users_of_secret(secret).cloned().collect();
        let (credentials, kubernetes) = (&context.credentials, &context.sender.kubernetes);
        let (asked, known) = (gather::asked(slice), &self.tokens);
        let tokens =
            gather::credentials(&mut self.snapshot, users, credentials, kubernetes, asked, known).await;
        ages::note(&mut self.snapshot, &context.shared.lock(), credentials, &tokens, now);
        self.tokens.extend(tokens);
    }

    /// Reads the list that all members share, if that is what the first portion needs.
    async fn shared_list(&mut self) -> Option<Shared> {
        let read = match <[Read; 1]>::try_from(plan::reads(&self.snapshot)) {
            Ok([read]) if read.what == What::List => read,
            _ => return None,
        };
        let (context, account) = (self.context, self.account_of(&read));
        let began = self.now();
        let answer = context.read(&self.snapshot, &read, &account, &self.tokens, &self.time).await;
        Some(match answer {
            ReadAnswer::Many { items, one_page } => {
                let list = List::of(&self.snapshot, items, one_page, began);
                gather::claims_of(&context.shared.lock().cache, &mut self.snapshot, list.ids());
                Shared::Shown(list, read)
            }
            answer => Shared::Failed(read, answer, began),
        })
    }

    /// Lets those go that have nothing to do and nothing to tell.
    fn let_go(&mut self) {
        let now = self.now();
        let ids = self.snapshot.members.keys();
        let rested: BTreeMap<MemberId, _> =
            ids.filter_map(|id| Some((id.clone(), plan::at_rest(&self.snapshot, id, now)?))).collect();
        let mut state = self.context.shared.lock();
        for (id, report) in rested {
            let Some(member) = self.snapshot.members.remove(&id) else { continue };
            self.is_terminal |= report.reason == Some(Reason::TerminalError);
            let again = settle(&mut state, &id, &member, &report);
            self.left.insert(id, again);
        }
    }
}
