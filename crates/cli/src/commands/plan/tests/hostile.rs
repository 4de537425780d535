//! Manifests whose texts are hostile: what a plan says of them is for a terminal.

use super::output::{ZONE, account, record};
use super::*;
use crate::terminal::steers;
use crate::world::TOKEN;

/// What a terminal would obey, as YAML and JSON write it.
const STEERING: &str = r#"\u001b[31mred\u001b]0;title\u0007\r\nsecond\u0000\u202eesrever\u2028\u009b1m"#;

#[track_caller]
fn is_harmless(text: &str) {
    let steers = |c: char| c != '\n' && steers(c);
    assert!(!text.contains(steers), "{:?}", text.lines().find(|line| line.contains(steers)));
}

#[test]
fn whatever_manifests_say_a_plan_steers_no_terminal_and_is_bounded() {
    in_world(Options { empty: true, ..Options::default() }, async |world| {
        let long = "x".repeat(1_024 * 1_024);
        for text in [STEERING, &long] {
            for spec in [
                format!(r#"type: TXT, content: "{text}""#),
                format!(r#"type: TXT, content: x, comment: "{text}", tags: ["{text}"]"#),
                format!(r#"type: CNAME, content: "{text}""#),
                format!(r#"type: "{text}", content: "{text}""#),
                format!(r#"type: TXT, content: x, "{text}": "{text}""#),
                format!(r#"type: CAA, data: {{flags: 0, tag: "{text}", value: "{text}"}}"#),
            ] {
                let manifests = format!("{}{}{ZONE}", account(), record("www", &spec));
                let said = match ask(world, Ask::apply(&manifests)).await {
                    Ok(findings) => text::render(&findings, Style { colour: false, verbose: true }),
                    Err(error) => format!("{error:#}"),
                };
                is_harmless(&said);
                assert!(!said.contains(TOKEN), "{said}");
                assert!(said.len() < 64 * 1_024, "{} bytes of {spec:.60}", said.len());
            }
        }
    });
}

#[test]
fn whatever_is_wrong_with_a_manifest_is_told_in_a_short_harmless_line() {
    let long = "x".repeat(1_024 * 1_024);
    for text in [STEERING, &long] {
        for manifest in [
            format!("\"{text}\": 1\n\"{text}\": 2\n"),
            format!("a: *{text}\n"),
            format!("a: !!int \"{text}\"\n"),
            format!("{{\"{text}\": 1, \"{text}\": 2}}"),
            format!("a: [\"{text}\"\n"),
            format!("a: !{text} b\n"),
        ] {
            let said = manifest::parse("a.yaml", &manifest).unwrap_err().to_string();
            is_harmless(&said);
            assert!(
                said.len() < 4_096 && !said.contains('\n'),
                "{} bytes of {manifest:.60}: {said:.200}",
                said.len()
            );
        }
    }
}
