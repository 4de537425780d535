//! Reads the scenario language. Says what a line says; whether it can be done shows when it is run.

mod cloudflare;
mod expectation;
mod value;
mod words;

use std::path::Path;

use self::value::{duration, number, object};
use self::words::{Words, cut};
use super::error::{Problem, ScriptError};
use super::script::{Command, FaultOrder, Pointing, RecordName, Script, Setup, Step};
use crate::file_text;
use crate::world::{CrashPoint, CrashSide, Side};

/// Bytes of a scenario: thousands of lines.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Every command with how it is written, in the order of the reference page.
pub(super) const USAGES: &[(&str, &str)] = &[
    ("virtual", "virtual WHY"),
    ("unswept", "unswept WHY"),
    (
        "world",
        "world [empty] [drift=DURATION] [deletion=retain] [election=on] [replicas=2] [sweep=off] [cf.SWITCH=VALUE]",
    ),
    ("apply", "apply FILE… | apply {JSON}"),
    ("delete", "delete KIND/NAME [-n NAMESPACE]"),
    ("patch", "patch KIND/NAME [-n NAMESPACE] [status] {JSON}"),
    ("annotate", "annotate KIND/NAME [-n NAMESPACE] KEY=VALUE|KEY-"),
    ("point", "point KIND/NAME [-n NAMESPACE] annotation|label KEY NAME [TYPE]"),
    ("settle", "settle [writes=N]"),
    ("advance", "advance DURATION"),
    ("jump", "jump DURATION|-DURATION"),
    ("compact", "compact"),
    ("plan", "plan KIND/NAME [-n NAMESPACE]"),
    ("cf", "cf create|set|delete record|zone NAME … | cf token …"),
    ("fault", "fault [kubernetes|cf] NAME [TIMES] [METHOD] [at PATH] [after N] | fault clear"),
    ("crash", "crash [at [cf|kubernetes] write N [before|after]]"),
    ("start", "start"),
    ("expect", "expect KIND/NAME … | cf … | calls … | writes N | events … | finalizers none"),
];

impl Script {
    /// Reads a script from a file; the files that it applies are looked for beside it.
    pub fn read(path: &Path) -> Result<Self, ScriptError> {
        let text = file_text::read(path, FILE_BYTES_MAX)
            .map_err(|source| ScriptError::Read { path: path.to_owned(), source })?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Self::parse(&name, path.parent().unwrap_or(Path::new("")), &text)
    }

    /// Reads a script from text.
    pub fn parse(name: &str, folder: &Path, text: &str) -> Result<Self, ScriptError> {
        let mut script = Self {
            name: name.to_owned(),
            folder: folder.to_owned(),
            setup: Setup::default(),
            world: None,
            only_virtual: None,
            unswept: None,
            steps: Vec::new(),
        };
        for (index, text) in text.lines().enumerate() {
            let line = index + 1;
            let at = |problem| ScriptError::Line { file: name.to_owned(), line, problem };
            let read = line_of(text).map_err(at)?;
            match read {
                None => {}
                Some(Line::Virtual(why)) => script.only_virtual = Some(why),
                Some(Line::Unswept(why)) => script.unswept = Some(why),
                Some(Line::World(text, setup)) if script.steps.is_empty() => {
                    script.setup = setup;
                    script.world = Some((line, text));
                }
                Some(Line::World(..)) => return Err(at(Problem::LateWorld)),
                Some(Line::Step(text, command)) => script.steps.push(Step { line, text, command }),
            }
        }
        Ok(script)
    }
}

enum Line {
    Virtual(String),
    Unswept(String),
    World(String, Setup),
    Step(String, Command),
}

fn line_of(text: &str) -> Result<Option<Line>, Problem> {
    // JSON runs to the end of the line: its quotes and `#` are its own.
    let (head, json) = match text.find('{') {
        Some(at) if is_json_command(text) => (&text[..at], Some(text[at..].trim())),
        _ => (text, None),
    };
    let (mut words, end) = cut(head)?;
    // A brace behind a `#` begins no JSON.
    let json = json.filter(|_| end == head.len());
    let shown = if json.is_some() { text } else { &text[..end] }.trim().to_owned();
    if words.is_empty() {
        return Ok(None);
    }
    let verb = words.remove(0);
    let known = USAGES.iter().map(|(name, _)| *name);
    let (verb, usage) = *USAGES
        .iter()
        .find(|(name, _)| *name == verb)
        .ok_or_else(|| Problem::unknown("command", &verb, known))?;
    let mut words = Words::new(words);
    words.set_command(verb, usage);
    if verb == "virtual" {
        let mut why = vec![words.need("the reason why it cannot be run in real time")?];
        why.extend(words.rest());
        return Ok(Some(Line::Virtual(why.join(" "))));
    }
    if verb == "unswept" {
        let mut why = vec![words.need("the reason why a crash changes its end")?];
        why.extend(words.rest());
        return Ok(Some(Line::Unswept(why.join(" "))));
    }
    if verb == "world" {
        return Ok(Some(Line::World(shown, setup(&mut words)?)));
    }
    let command = command(verb, &mut words, json)?;
    words.end()?;
    Ok(Some(Line::Step(shown, command)))
}

fn is_json_command(text: &str) -> bool {
    let verb = text.split_whitespace().next();
    matches!(verb, Some("apply" | "patch"))
}

fn command(verb: &str, words: &mut Words, json: Option<&str>) -> Result<Command, Problem> {
    Ok(match verb {
        "apply" => match json {
            Some(json) => Command::ApplyInline(value::json(json)?),
            None => apply(words)?,
        },
        "delete" => Command::Delete(object(words)?),
        "patch" => patch(words, json)?,
        "point" => point(words)?,
        "annotate" => annotate(words)?,
        "settle" => Command::Settle { writes: settle_writes(words)? },
        "advance" => Command::Advance(duration(&words.need("the duration")?)?),
        "jump" => {
            let word = words.need("the duration")?;
            let back = word.starts_with('-');
            Command::Jump { by: duration(word.trim_start_matches('-'))?, back }
        }
        "compact" => Command::Compact,
        "plan" => Command::Plan(object(words)?),
        "cf" => Command::Cloudflare(cloudflare::edit(words)?),
        "fault" => fault(words)?,
        "crash" => Command::Crash(crash(words)?),
        "start" => Command::Start,
        _ => Command::Expect(expectation::read(words)?),
    })
}

fn apply(words: &mut Words) -> Result<Command, Problem> {
    let first = words.need("the file")?;
    let mut files = vec![first];
    files.extend(words.rest());
    Ok(Command::Apply(files))
}

fn patch(words: &mut Words, json: Option<&str>) -> Result<Command, Problem> {
    let object = object(words)?;
    let of_status = match words.next() {
        None => false,
        Some(word) if word == "status" => true,
        Some(word) => return Err(words.surplus(word)),
    };
    let json = json.ok_or(Problem::Missing {
        command: "patch",
        what: "the patch as JSON",
        usage: "patch KIND/NAME [-n NAMESPACE] [status] {JSON}",
    })?;
    let patch = value::json(json)?;
    Ok(if of_status { Command::PatchStatus(object, patch) } else { Command::Patch(object, patch) })
}

fn point(words: &mut Words) -> Result<Command, Problem> {
    let object = object(words)?;
    let place = words.need("`annotation` or `label`")?;
    let key = words.need("its key")?;
    let pointing = match one_of("place", &place, ["annotation", "label"])? {
        0 => Pointing::Annotation(key),
        _ => Pointing::Label(key),
    };
    let name = words.need("the record's name")?;
    Ok(Command::Point(object, pointing, RecordName { name, kind: words.next() }))
}

fn annotate(words: &mut Words) -> Result<Command, Problem> {
    let object = object(words)?;
    let word = words.need("KEY=VALUE or KEY-")?;
    Ok(match (word.split_once('='), word.strip_suffix('-')) {
        (Some((key, value)), _) => Command::Annotate(object, key.to_owned(), Some(value.to_owned())),
        (None, Some(key)) => Command::Annotate(object, key.to_owned(), None),
        (None, None) => {
            return Err(Problem::Malformed { word, what: "KEY=VALUE, or KEY- to remove the annotation" });
        }
    })
}

fn settle_writes(words: &mut Words) -> Result<Option<u64>, Problem> {
    let Some(word) = words.next() else { return Ok(None) };
    match word.strip_prefix("writes=") {
        Some(count) => number(count).map(Some),
        None => Err(words.surplus(word)),
    }
}

fn crash(words: &mut Words) -> Result<Option<CrashPoint>, Problem> {
    let Some(word) = words.next() else { return Ok(None) };
    if word != "at" {
        return Err(words.surplus(word));
    }
    let mut word = words.need("`write N`")?;
    let whose = match word.as_str() {
        "cf" => Some(Side::Cloudflare),
        "kubernetes" => Some(Side::Kubernetes),
        _ => None,
    };
    if whose.is_some() {
        word = words.need("`write N`")?;
    }
    if word != "write" {
        return Err(words.surplus(word));
    }
    let word = words.need("the number of the write")?;
    let write = number(&word)?;
    if write == 0 {
        return Err(Problem::Malformed { word, what: "the number of a write: the first is 1" });
    }
    let side = match words.next().as_deref() {
        None | Some("after") => CrashSide::After,
        Some("before") => CrashSide::Before,
        Some(other) => return Err(Problem::unknown("side of the write", other, ["before", "after"])),
    };
    Ok(Some(CrashPoint { write, whose, side }))
}

fn fault(words: &mut Words) -> Result<Command, Problem> {
    let mut word = words.need("the fault's name")?;
    if word == "clear" {
        return Ok(Command::FaultClear);
    }
    let mut side = Side::Cloudflare;
    if let "kubernetes" | "cf" = word.as_str() {
        side = if word == "cf" { Side::Cloudflare } else { Side::Kubernetes };
        word = words.need("the fault's name")?;
    }
    let known = sandbox::fault::Fault::ALL;
    let fault = known
        .into_iter()
        .find(|fault| fault.name() == word)
        .ok_or_else(|| Problem::unknown("fault", &word, known.iter().map(|fault| fault.name())))?;
    let mut order = FaultOrder { side, fault, times: 1, method: None, path: None, after: 0 };
    while let Some(word) = words.next() {
        match word.as_str() {
            "at" => order.path = Some(words.need("the part of the path after `at`")?),
            "after" => order.after = count(&words.need("the number after `after`")?)?,
            "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "WATCH" => order.method = Some(word),
            _ => order.times = count(&word)?,
        }
    }
    can_be_met(&order)?;
    Ok(Command::Fault(order))
}

/// Whoever orders a fault that can meet nothing would believe that it was survived.
fn can_be_met(order: &FaultOrder) -> Result<(), Problem> {
    let FaultOrder { side, fault, times, .. } = order;
    let side_has_it = *side == Side::Kubernetes || !fault.is_of_kubernetes();
    let what = if !side_has_it {
        "a fault of Cloudflare; write `fault kubernetes …`"
    } else if *times == 0 {
        "met by any request: it hits 0 of them; write `1` or more"
    } else if order.method.as_ref().is_some_and(|method| !fault.meets(method)) {
        "a fault of requests with that method; leave the method out or write another"
    } else {
        return Ok(());
    };
    Err(Problem::Malformed { word: fault.name().to_owned(), what })
}

fn count(word: &str) -> Result<u32, Problem> {
    word.parse()
        .map_err(|_| Problem::Malformed { word: word.to_owned(), what: "a number of requests, as in `3`" })
}

fn setup(words: &mut Words) -> Result<Setup, Problem> {
    let mut setup = Setup::default();
    while let Some(word) = words.next() {
        match word.split_once('=') {
            None if word == "empty" => setup.empty = true,
            Some(("drift", interval)) => setup.drift = Some(duration(interval)?),
            Some(("deletion", policy)) => setup.retain = one_of("policy", policy, ["delete", "retain"])? == 1,
            Some(("replicas", count)) => {
                setup.replicas = if one_of("number", count, ["1", "2"])? == 0 { 1 } else { 2 };
            }
            Some(("election", state)) => setup.election = one_of("state", state, ["off", "on"])? == 1,
            Some(("sweep", state)) => setup.sweep = one_of("state", state, ["off", "on"])? == 1,
            Some((name, value)) if name.starts_with("cf.") => {
                setup.switches.insert(name[3..].to_owned(), value.to_owned());
            }
            _ => {
                let known = ["empty", "drift=", "deletion=", "election=", "replicas=", "sweep=", "cf."];
                return Err(Problem::unknown("property of the world", &word, known));
            }
        }
    }
    Ok(setup)
}

/// The place of a word among two known ones.
fn one_of(what: &'static str, word: &str, known: [&str; 2]) -> Result<usize, Problem> {
    known.iter().position(|name| *name == word).ok_or_else(|| Problem::unknown(what, word, known))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn one(text: &str) -> Command {
        let script = Script::parse("t.txt", Path::new(""), text).unwrap();
        script.steps.into_iter().next().unwrap().command
    }

    fn refused(text: &str) -> String {
        Script::parse("t.txt", Path::new(""), text).unwrap_err().to_string()
    }

    #[test]
    fn commands_are_read() {
        assert_eq!(one("settle writes=1 # one"), Command::Settle { writes: Some(1) });
        assert_eq!(one("advance 90m"), Command::Advance(Duration::from_secs(5_400)));
        assert_eq!(
            one("crash at write 3 before"),
            Command::Crash(Some(CrashPoint { write: 3, whose: None, side: CrashSide::Before }))
        );
        assert_eq!(one("apply a.yaml b.yaml"), Command::Apply(vec!["a.yaml".into(), "b.yaml".into()]));
        let Command::Fault(order) = one("fault kubernetes write-conflict 2 PATCH at dnsrecords after 1")
        else {
            panic!("not a fault");
        };
        assert_eq!(
            (order.side, order.times, order.after, order.method.as_deref(), order.path.as_deref()),
            (Side::Kubernetes, 2, 1, Some("PATCH"), Some("dnsrecords"))
        );
        let Command::Patch(object, patch) =
            one(r##"patch dnsrecord/www -n apps {"spec": {"content": "#1"}}"##)
        else {
            panic!("not a patch");
        };
        assert_eq!((object.namespace.as_str(), object.name.as_str()), ("apps", "www"));
        assert_eq!(patch["spec"]["content"], "#1");
        assert!(matches!(one(r#"patch dnsrecord/www status {"recordID": null}"#), Command::PatchStatus(..)));
        let record = RecordName { name: "www".to_owned(), kind: Some("A".to_owned()) };
        assert_eq!(
            one("point dnsrecord/www -n apps label kflare.dev/record-id www A"),
            Command::Point(object, Pointing::Label("kflare.dev/record-id".to_owned()), record)
        );
    }

    #[test]
    fn the_world_is_told_as_it_is_written() {
        let script =
            Script::parse("a.txt", Path::new(""), "# why\nworld  drift=10m # often\nsettle\n").unwrap();
        assert_eq!(script.world, Some((2, "world  drift=10m".to_owned())));
        assert_eq!(Script::parse("a.txt", Path::new(""), "settle\n").unwrap().world, None);
    }

    #[test]
    fn errors_name_the_place_the_word_and_the_fix() {
        assert!(
            refused("\nsetle").starts_with("t.txt:2: unknown command \"setle\"; did you mean \"settle\"?")
        );
        assert!(refused("fault cf timeout-after").contains("did you mean \"timeout-after-commit\"?"));
        assert!(refused("delete record").contains("\"record\" is not KIND/NAME"));
        assert!(refused("delete dnsrecrd/www").contains("did you mean \"dnsrecord\"?"));
        assert!(refused("advance 5 minutes").contains("\"5\" is not a duration"));
        assert!(refused("start\nworld empty").contains("first command"));
        assert!(refused("unswept  # why").contains("the reason why a crash changes its end is missing"));
        assert!(
            refused("virtual  # why").contains("the reason why it cannot be run in real time is missing")
        );
        assert!(refused("start now").contains("\"now\" has no meaning here; write `start`"));
    }

    #[test]
    fn a_fault_that_can_meet_nothing_is_refused_with_its_line() {
        for line in [
            "fault cf watch-cut 1",
            "fault write-conflict PATCH",
            "fault kubernetes watch-cut 1 PATCH",
            "fault cf stale-read 3 POST",
            "fault kubernetes late-commit GET",
            "fault 504 0",
        ] {
            let error = refused(&format!("settle\n{line}"));
            assert!(error.contains("t.txt:2") && error.contains("write"), "{line}: {error:?}");
        }
        for line in ["fault cf stale-read GET", "fault kubernetes watch-gap", "fault 504 POST after 2"] {
            assert!(matches!(one(line), Command::Fault(_)), "{line}");
        }
    }
}
