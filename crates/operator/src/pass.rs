//! One pass over one unit: gather, then read, decide and send in rounds, then report (design §3).
//! Every choice is `plan`'s; this module only carries facts and outcomes between it and the world.

mod hearing;
mod portions;

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use cf_api::error::Cause;
use futures::{FutureExt, StreamExt};
use jiff::Timestamp;
use kinds::Reason;
use plan::snapshot::{Member, Snapshot};
use plan::stage::class_of;
use plan::{Act, Decision, Hold, MemberId, Next, Outcome, Read, ReadAnswer, Reply, Report, Request, UnitKey};

pub use self::portions::Portions;
use crate::cloudflare::Clock;
use crate::credentials::Credentials;
use crate::effects::Effects;
use crate::gather::{self, Tokens};
use crate::limits::SENDS_AT_ONCE;
use crate::object;
use crate::pass_time::{Parked, PassTime};
use crate::queue::{Again, Due, Slice};
use crate::send::{Sender, WriteError};
use crate::state::Shared;
use crate::status::Writing;

/// What every pass works with.
pub struct Context {
    /// Caches and queue.
    pub shared: Arc<Shared>,
    /// Reads tokens.
    pub credentials: Credentials,
    /// Reads, and sends what takes effect.
    pub sender: Arc<Sender>,
    /// How acts and reports take effect.
    pub effects: Effects,
    /// The time of day.
    pub clock: Clock,
    /// Bounds one pass, waiting for the budget not counted.
    pub reconcile_timeout: Duration,
    /// What happens by default to an object whose resource goes.
    pub default_deletion: plan::policy::Deletion,
    /// Counts the passes that wait for the budget.
    pub parked: Parked,
    /// How the members of a large unit are taken in.
    pub portions: Portions,
}

/// Runs a pass; a panic in it is counted, reported on its members and retried with back-off.
pub async fn run(context: &Context, slice: &Slice) -> Vec<(MemberId, Again)> {
    let controller = controller(&slice.unit);
    let pass = AssertUnwindSafe(Pass::run(context, slice)).catch_unwind();
    if let Ok(again) = pass.await {
        return again;
    }
    context.shared.metrics.pass_panicked(controller);
    tracing::error!(unit = %slice.unit, "a pass panicked: this is a bug in kflare");
    let told = AssertUnwindSafe(Pass::tell_panic(context, slice)).catch_unwind().await;
    told.unwrap_or_else(|_| slice.members.keys().map(|member| (member.clone(), Again::Fault(None))).collect())
}

/// The kind whose members a unit has, as metrics name it.
#[must_use]
pub fn controller(unit: &UnitKey) -> &'static str {
    match unit {
        UnitKey::Object(member) => member.kind,
        UnitKey::Children { kind, .. } => kind,
    }
}

struct Pass<'c> {
    context: &'c Context,
    snapshot: Snapshot,
    tokens: Tokens,
    time: PassTime,
    /// Members that left before the others went on, and when they are looked at again: they were found in order, could not
    /// be read, or wait for the next pass.
    left: BTreeMap<MemberId, Again>,
    /// Something was carried out, so that another look at once may find more to do.
    moved: bool,
    /// A member needs a change by its user.
    is_terminal: bool,
}

impl<'c> Pass<'c> {
    async fn run(context: &'c Context, slice: &Slice) -> Vec<(MemberId, Again)> {
        let mut pass = Pass::begin(context, slice);
        pass.gather(slice).await;
        pass.rounds().await;
        pass.finish(slice).await
    }

    /// A pass that only says that the one before panicked.
    async fn tell_panic(context: &'c Context, slice: &Slice) -> Vec<(MemberId, Again)> {
        let mut pass = Pass::begin(context, slice);
        pass.take_members(&slice.members);
        for member in pass.snapshot.members.values_mut() {
            let message = "a bug in kflare stopped the reconcile; please report it with the log";
            member.progress.hold = Some(Hold::new(Reason::InternalError, message));
        }
        pass.finish(slice).await
    }

    fn begin(context: &'c Context, slice: &Slice) -> Self {
        let time = PassTime::start(context.reconcile_timeout, context.parked.clone());
        let now = (context.clock)();
        let mut state = context.shared.lock();
        let snapshot = gather::begin(&mut state, slice, context.default_deletion, now);
        let (tokens, left) = (Tokens::new(), BTreeMap::new());
        Self { context, snapshot, tokens, time, left, moved: false, is_terminal: false }
    }

    /// Puts members into the snapshot as the caches have them. One whose copy cannot be read is looked at again: to leave it
    /// would be to take it for gone.
    fn take_members<'d>(&mut self, due: impl IntoIterator<Item = (&'d MemberId, &'d Due)>) {
        let unknown = gather::from_caches(&self.context.shared.lock().cache, &mut self.snapshot, due);
        for (member, why) in unknown {
            tracing::warn!(%member, why, "a resource cannot be looked at");
            self.left.insert(member, Again::Fault(None));
        }
    }

    fn now(&self) -> Timestamp {
        (self.context.clock)()
    }

    async fn rounds(&mut self) {
        for _ in 0..plan::limits::ROUNDS_MAX {
            let reads = plan::reads(&self.snapshot);
            if self.time.is_over() {
                return;
            }
            if !reads.is_empty() {
                self.read(reads).await;
                continue;
            }
            match plan::decide(&self.snapshot, self.now()) {
                Decision::Done => return,
                Decision::Stage(acts) => self.send(acts).await,
            }
        }
    }

    async fn read(&mut self, reads: Vec<Read>) {
        let (context, snapshot, tokens, time) = (self.context, &self.snapshot, &self.tokens, &self.time);
        let sends = reads.into_iter().map(|read| {
            let account = self.account_of(&read);
            async move {
                let began = (context.clock)();
                let answer = context.read(snapshot, &read, &account, tokens, time).await;
                (read, answer, began)
            }
        });
        let answers: Vec<(Read, ReadAnswer, Timestamp)> =
            futures::stream::iter(sends).buffered(SENDS_AT_ONCE).collect().await;
        for (read, answer, began) in answers {
            gather::claims_of_answer(&context.shared.lock().cache, &mut self.snapshot, &answer);
            self.fold(&read, answer, began);
        }
    }

    fn fold(&mut self, read: &Read, answer: ReadAnswer, began: Timestamp) {
        let is_accepted = hearing::is_accepted(&answer);
        plan::fold(&mut self.snapshot, read, answer, began);
        if is_accepted {
            hearing::note_read(&mut self.snapshot, read);
        }
    }

    /// The external ID of the account of a read's member: tokens that an account owns have routes below it.
    fn account_of(&self, read: &Read) -> String {
        let member = read.members.first().and_then(|id| self.snapshot.members.get(id));
        let account = member.and_then(|member| {
            let account = member.account.found()?;
            let kind = kinds::KINDS.iter().find(|kind| kind.secret.is_some())?;
            kind.external_id(account).map(str::to_owned)
        });
        account.unwrap_or_default()
    }

    async fn send(&mut self, acts: Vec<Act>) {
        let (context, snapshot, tokens, time) = (self.context, &self.snapshot, &self.tokens, &self.time);
        let sends = acts.into_iter().map(|act| {
            let class = class_of(&self.snapshot, &act);
            let expected = self.expected(&act);
            async move {
                let outcome = if time.is_over() {
                    Outcome::NotSent(Cause::OutOfTime)
                } else {
                    announce(context, &act, expected);
                    context.act(snapshot, &act, class, tokens, time).await
                };
                note(context, &act, &outcome, expected);
                let at = (context.clock)();
                (act, outcome, at)
            }
        });
        let outcomes: Vec<(Act, Outcome, Timestamp)> =
            futures::stream::iter(sends).buffered(SENDS_AT_ONCE).collect().await;
        for (act, outcome, at) in outcomes {
            self.moved |= matches!(outcome, Outcome::Done(_));
            hearing::note_outcome(&mut self.snapshot, &act, &outcome);
            plan::absorb(&mut self.snapshot, &act, outcome, at);
            self.note_founded(&act);
        }
    }

    /// Tells at once what others will rest on: they may be looked at before this pass ends.
    fn note_founded(&self, act: &Act) {
        for id in act.parts.iter().map(|part| &part.member) {
            let founded = self.snapshot.members.get(id).and_then(|member| member.progress.founded);
            if let Some(at) = founded {
                let ago = Duration::try_from(self.now().duration_since(at)).unwrap_or_default();
                self.context.shared.lock().found(id, ago);
            }
        }
    }

    /// The fingerprint that the act's patch must lead to when nobody else writes meanwhile.
    fn expected(&self, act: &Act) -> Option<u64> {
        let Request::Kubernetes(patch) = &act.request else { return None };
        let base = &self.snapshot.members.get(&act.parts.first()?.member)?.object;
        object::patched(base, &patch.body).map(|object| object::fingerprint(&object))
    }

    async fn finish(mut self, slice: &Slice) -> Vec<(MemberId, Again)> {
        if self.time.is_over() {
            self.context.shared.metrics.pass_timed_out(controller(&slice.unit));
            self.time_out();
        }
        let mut reports = plan::report(&self.snapshot, self.now());
        self.is_terminal |= reports.iter().any(|(_, report)| report.reason == Some(Reason::TerminalError));
        if self.is_terminal {
            self.context.shared.metrics.pass_was_terminal(controller(&slice.unit));
        }
        let writings = self.writings(&mut reports);
        let failed = self.context.tell(writings).await;
        let mut state = self.context.shared.lock();
        let now = self.now();
        state.remember(&slice.unit, std::mem::take(&mut self.snapshot.memory), now);
        let mut again = Vec::with_capacity(slice.members.len());
        let is_gone =
            |id: &&MemberId| !self.snapshot.members.contains_key(*id) && !self.left.contains_key(*id);
        again.extend(slice.members.keys().filter(is_gone).map(|id| (id.clone(), Again::Forget)));
        again.extend(self.left);
        for (id, report) in reports {
            let Some(member) = self.snapshot.members.get(&id) else { continue };
            let version = member.object.metadata.resource_version.as_str();
            let next = match failed.get(&id) {
                None if report.next == Next::Event => state.stale(&id, version, member.class),
                // The same facts would lead to the same pass: only time can help.
                None if matches!(report.next, Next::Now(_)) && !self.moved => Again::Fault(None),
                None => settle(&mut state, &id, member, &report),
                Some(WriteError::Stale) => state.stale(&id, version, member.class),
                Some(WriteError::Gone) => Again::Forget,
                Some(error) => {
                    tracing::warn!(member = %id, %error, "cannot write the status");
                    Again::Fault(None)
                }
            };
            again.push((id, next));
        }
        again
    }

    /// What was cut off in the middle says so; whoever was finished keeps what it has.
    fn time_out(&mut self) {
        let cut = plan::report(&self.snapshot, self.now())
            .into_iter()
            .filter(|(_, report)| matches!(report.next, Next::Now(_)));
        for (id, _) in cut.collect::<Vec<_>>() {
            if let Some(member) = self.snapshot.members.get_mut(&id) {
                member.progress.deferred = false;
                member.progress.hold = Some(Hold::new(Reason::APIError, Cause::OutOfTime.to_string()));
            }
        }
    }

    fn writings(&self, reports: &mut [(MemberId, Report)]) -> Vec<Writing<'_>> {
        let writing = |(id, report): &mut (MemberId, Report)| {
            let status = report.status.take()?;
            let member = self.snapshot.members.get(id)?;
            let event = report.event.take();
            Some(Writing { member: id.clone(), base: &member.object, status, event })
        };
        reports.iter_mut().filter_map(writing).collect()
    }
}

/// Tells the caches of a patch that is about to be sent: its event may be faster than its answer.
fn announce(context: &Context, act: &Act, expected: Option<u64>) {
    if let Request::Kubernetes(patch) = &act.request
        && let plan::act::Target::Kind(kind) = patch.target
    {
        context.shared.writes(&MemberId { kind, key: patch.key.clone() }, expected);
    }
}

/// Tells the caches what became of a patch: claims count from its answer on (design §3).
fn note(context: &Context, act: &Act, outcome: &Outcome, expected: Option<u64>) {
    let Request::Kubernetes(patch) = &act.request else { return };
    match (patch.target, outcome) {
        (plan::act::Target::Kind(name), Outcome::Done(Reply::Kubernetes(object))) => {
            if let Some(kind) = kinds::kind(name) {
                context.shared.wrote(kind, object, expected);
            }
        }
        (plan::act::Target::Secret, Outcome::Done(Reply::Kubernetes(object))) => {
            context.shared.lock().wrote_secret(&patch.key, &object.metadata.resource_version);
        }
        // It may still take effect, and then its event is ours.
        (_, Outcome::Unknown(_)) => {}
        _ => announce(context, act, None),
    }
}

fn settle(state: &mut crate::state::State, id: &MemberId, member: &Member, report: &Report) -> Again {
    let timings = state.queue.timings();
    let again = match report.next {
        Next::Drift => Again::Settled,
        Next::Unsettled(after) => Again::Unsettled(timings.pause(after)),
        Next::Wait | Next::Event => Again::OnChange,
        Next::Resync => Again::Resync,
        Next::After(after, class) => Again::After(timings.pause(after), class),
        Next::Fault(not_before) => Again::Fault(not_before),
        Next::Now(class) => Again::Now(class),
        Next::Forget => Again::Forget,
    };
    state.token_heard(id, hearing::own_cred(member), hearing::heard(member, report), again)
}

#[cfg(test)]
mod tests;
