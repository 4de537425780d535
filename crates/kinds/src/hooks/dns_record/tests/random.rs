//! Made-up records of every type: each in a plain spelling, in others that mean the same, and with each part changed
//! once. Knows how people write records and nothing of the hooks, so that other tests can ask a witness about them.

use serde_json::{Map, Value, json};

/// The zone that the records are in.
pub(crate) const ZONE: &str = "example.com";

/// Every record type.
pub(crate) const TYPES: [&str; 21] = [
    "A",
    "AAAA",
    "CAA",
    "CERT",
    "CNAME",
    "DNSKEY",
    "DS",
    "HTTPS",
    "LOC",
    "MX",
    "NAPTR",
    "NS",
    "OPENPGPKEY",
    "PTR",
    "SMIMEA",
    "SRV",
    "SSHFP",
    "SVCB",
    "TLSA",
    "TXT",
    "URI",
];

/// A generator of the linear congruential kind (Knuth's MMIX constants): the same records in every run.
pub(crate) struct Random(pub(crate) u64);

/// A record and its relatives, all as specs.
pub(crate) struct Sample {
    /// The plain spelling.
    pub(crate) spec: Value,
    /// Other spellings of the same record.
    pub(crate) spellings: Vec<Value>,
    /// Other records, each by one change of what the record says.
    pub(crate) others: Vec<Value>,
    /// The same record, each with one change of what surrounds it (ttl, comment and the like).
    pub(crate) changed: Vec<Value>,
}

/// One part of a record.
struct Piece {
    name: &'static str,
    plain: Value,
    /// Ways to write it in `data` (or as the content); null leaves it out.
    spellings: Vec<Value>,
    /// Ways to write it in a zone file's line.
    words: Vec<String>,
    other: Value,
}

impl Piece {
    fn text(name: &'static str, plain: &str, spellings: &[String], other: String) -> Self {
        let words = spellings.iter().map(String::clone).chain([plain.to_owned()]).collect();
        let spellings = spellings.iter().map(|text| json!(text)).collect();
        Self { name, plain: json!(plain), spellings, words, other: json!(other) }
    }
}

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % bound
    }

    pub(crate) fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    fn letters(&mut self, alphabet: &str, count: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..count).map(|_| self.one(&letters)).collect()
    }

    fn number(&mut self, name: &'static str, most: usize) -> Piece {
        let number = self.one(&[0, 1, most, self.0 as usize % (most + 1)]);
        Piece {
            name,
            plain: json!(number),
            spellings: vec![json!(number as f64), json!(number.to_string()), json!(format!("0{number}"))],
            words: vec![number.to_string()],
            other: json!((number + 1) % (most + 1)),
        }
    }

    // A number that may be left out when it is 0.
    fn decimal(&mut self, name: &'static str, whole: i64, fractions: u32) -> Piece {
        let kept = if self.below(3) == 0 { 0 } else { self.below(usize::try_from(whole).unwrap_or(1) * 10) };
        let number = kept as f64 / 10.0;
        let digits = fractions as usize;
        let mut spellings = vec![json!(format!("{number:.digits$}")), json!(number)];
        if kept == 0 {
            spellings.push(Value::Null);
        }
        let words = vec![format!("{number:.digits$}"), format!("{number}")];
        Piece { name, plain: json!(number), spellings, words, other: json!(number + 0.1) }
    }

    fn direction(&mut self, name: &'static str, letters: [&str; 2]) -> Piece {
        let at = self.below(2);
        Piece::text(name, letters[at], &[letters[at].to_ascii_lowercase()], letters[1 - at].to_owned())
    }

    fn hex(&mut self, name: &'static str) -> Piece {
        let pairs = 1 + self.below(40);
        let plain = self.letters("0123456789abcdef", pairs * 2);
        let (front, back) = plain.split_at(2 * self.below(pairs));
        let broken = format!("{front} {back}").trim().to_owned();
        Piece::text(name, &plain, &[plain.to_ascii_uppercase(), broken], format!("{plain}00"))
    }

    fn base64(&mut self, name: &'static str) -> Piece {
        let groups = 1 + self.below(20);
        let digits = self.letters("ABCXYZabcxyz0189+/", groups * 4);
        let (body, padding) = self.one(&[("", ""), ("QQ", "=="), ("AQI", "=")]);
        let plain = format!("{digits}{body}{padding}");
        let (front, back) = digits.split_at(self.below(digits.len() - 1) + 1);
        let spellings = [format!("{digits}{body}"), format!("{front}\n {back}{body}{padding}")];
        Piece::text(name, &plain, &spellings, format!("AAAA{plain}"))
    }

    fn host(&mut self, name: &'static str, may_be_root: bool) -> Piece {
        match self.below(if may_be_root { 4 } else { 3 }) {
            0 => {
                let spellings = ["bücher.example.net.", "BÜCHER.example.net", "XN--bcher-kva.Example.net."];
                let spellings = spellings.map(str::to_owned);
                Piece::text(name, "xn--bcher-kva.example.net", &spellings, "buecher.example.net".to_owned())
            }
            3 => Piece::text(name, ".", &[], "root.example.net".to_owned()),
            _ => {
                let label = self.letters("abc_19", 4);
                let plain = format!("h{label}.example.net");
                let spellings = [format!("{plain}."), plain.to_ascii_uppercase()];
                Piece::text(name, &plain, &spellings, format!("x{plain}"))
            }
        }
    }

    // A text that stands in quotes in a zone file; `last` ones do without as well.
    fn quotable(&mut self, name: &'static str, alphabet: &str, last: bool) -> Piece {
        let count = self.below(12) + usize::from(last);
        let plain = self.letters(alphabet, count);
        let quoted = format!("\"{}\"", plain.replace('\\', "\\\\"));
        let mut piece = Piece::text(name, &plain, std::slice::from_ref(&quoted), format!("{plain}x"));
        piece.words = if last && !plain.contains('\\') && plain.trim() == plain {
            vec![quoted, plain]
        } else {
            vec![quoted]
        };
        piece
    }

    fn parameters(&mut self, name: &'static str) -> Piece {
        let port = self.below(65_535);
        let all = [
            ("alpn", "h3,h2".to_owned(), "h3,h2".to_owned()),
            ("port", port.to_string(), format!("0{port}")),
            ("ipv4hint", "192.0.2.1,192.0.2.2".to_owned(), "192.0.2.1,192.0.2.2".to_owned()),
            ("ipv6hint", "2001:db8::1".to_owned(), "2001:DB8:0:0::1".to_owned()),
            ("mandatory", "alpn,port".to_owned(), "port,alpn".to_owned()),
        ];
        let mut chosen: Vec<_> = all.into_iter().filter(|_| self.below(2) == 0).collect();
        let write = |of: &[(&str, String, String)]| {
            let texts: Vec<String> = of.iter().map(|(key, plain, _)| format!("{key}=\"{plain}\"")).collect();
            texts.join(" ")
        };
        let plain = write(&chosen);
        let bare: Vec<String> = chosen.iter().map(|(key, _, odd)| format!("{key}={odd}")).collect();
        chosen.reverse();
        let spellings = [bare.join("  "), write(&chosen)];
        let other = format!("{plain} ech=\"AQID\"").trim().to_owned();
        Piece::text(name, &plain, &spellings, other)
    }

    fn pieces(&mut self, record_type: &str) -> Vec<Piece> {
        const SHORT: usize = 65_535;
        const OCTET: usize = 255;
        match record_type {
            "CAA" => {
                let tag = Piece::text("tag", "issue", &["ISSUE".to_owned()], "issuewild".to_owned());
                vec![self.number("flags", OCTET), tag, self.quotable("value", "ab;.: =", true)]
            }
            "CERT" => vec![
                self.number("type", SHORT),
                self.number("key_tag", SHORT),
                self.number("algorithm", OCTET),
                self.base64("certificate"),
            ],
            "DNSKEY" => vec![
                self.number("flags", SHORT),
                self.number("protocol", OCTET),
                self.number("algorithm", OCTET),
                self.base64("public_key"),
            ],
            "DS" => vec![
                self.number("key_tag", SHORT),
                self.number("algorithm", OCTET),
                self.number("digest_type", OCTET),
                self.hex("digest"),
            ],
            "HTTPS" | "SVCB" => {
                vec![self.number("priority", SHORT), self.host("target", true), self.parameters("value")]
            }
            "LOC" => vec![
                self.number("lat_degrees", 90),
                self.number("lat_minutes", 59),
                self.decimal("lat_seconds", 58, 3),
                self.direction("lat_direction", ["N", "S"]),
                self.number("long_degrees", 180),
                self.number("long_minutes", 59),
                self.decimal("long_seconds", 58, 3),
                self.direction("long_direction", ["E", "W"]),
                self.decimal("altitude", 8_000, 2),
                self.decimal("size", 90_000, 2),
                self.decimal("precision_horz", 90_000, 2),
                self.decimal("precision_vert", 90_000, 2),
            ],
            "NAPTR" => vec![
                self.number("order", SHORT),
                self.number("preference", SHORT),
                self.quotable("flags", "SAUP", false),
                self.quotable("service", "SIPE2U+:d", false),
                self.quotable("regex", r"!^$.*ab\1@: ", false),
                self.host("replacement", true),
            ],
            "SMIMEA" | "TLSA" => vec![
                self.number("usage", OCTET),
                self.number("selector", OCTET),
                self.number("matching_type", OCTET),
                self.hex("certificate"),
            ],
            "SRV" => vec![
                self.number("priority", SHORT),
                self.number("weight", SHORT),
                self.number("port", SHORT),
                self.host("target", true),
            ],
            "SSHFP" => {
                vec![self.number("algorithm", OCTET), self.number("type", OCTET), self.hex("fingerprint")]
            }
            "URI" => vec![self.number("weight", SHORT), self.quotable("target", "ab:/.?=%", true)],
            _ => Vec::new(),
        }
    }

    fn content(&mut self, record_type: &str) -> Piece {
        let name = "content";
        match record_type {
            "A" => {
                let last = self.below(255);
                Piece::text(name, &format!("192.0.2.{last}"), &[], format!("198.51.100.{last}"))
            }
            "AAAA" => {
                let last = 1 + self.below(0xfffe);
                let spellings =
                    [format!("2001:DB8:0:0:0:0:0:{last:04X}"), format!("2001:0db8:0::0:{last:x}")];
                Piece::text(name, &format!("2001:db8::{last:x}"), &spellings, format!("2001:db8:1::{last:x}"))
            }
            "MX" => self.host(name, true),
            "CNAME" | "NS" | "PTR" => self.host(name, false),
            "OPENPGPKEY" => self.base64(name),
            _ => {
                let count = 1 + self.below(600);
                let plain = self.letters("abc =;-XYZ019", count).trim().to_owned() + "!";
                let (front, back) = plain.split_at(self.below(plain.len()));
                let spellings = [format!("\"{plain}\""), format!("\"{front}\"  \"{back}\"")];
                Piece::text(name, &plain, &spellings, format!("{plain}?"))
            }
        }
    }

    /// A record of a type, at a name of the zone.
    pub(crate) fn sample(&mut self, record_type: &str, label: &str) -> Sample {
        let pieces = self.pieces(record_type);
        let mut base = json!({ "type": record_type, "name": label, "ttl": self.one(&[1, 60, 3_600]) });
        let with_priority = matches!(record_type, "MX" | "URI");
        if with_priority {
            base["priority"] = json!(self.below(65_535));
        }
        let mut sample = if pieces.is_empty() {
            self.of_content(record_type, &base)
        } else {
            self.of_data(&pieces, &base)
        };
        if with_priority {
            let priority = base["priority"].as_u64().unwrap_or_default();
            sample.spellings.push(with(&sample.spec, "priority", json!(priority.to_string())));
            sample.changed.push(with(&sample.spec, "priority", json!(priority + 1)));
        }
        for name in [format!("{}.{ZONE}.", label.to_ascii_uppercase()), format!("{label}.Example.com")] {
            sample.spellings.push(with(&sample.spec, "name", json!(name)));
        }
        sample.spellings.push(with(&sample.spec, "comment", json!("")));
        sample.spellings.push(with(&sample.spec, "tags", json!([])));
        sample.spellings.push(with(&sample.spec, "settings", json!({})));
        sample.others.push(with(&sample.spec, "name", json!(format!("other-{label}"))));
        for (member, value) in [("ttl", json!(301)), ("comment", json!("why")), ("tags", json!(["team:web"]))]
        {
            sample.changed.push(with(&sample.spec, member, value));
        }
        sample
    }

    fn of_content(&mut self, record_type: &str, base: &Value) -> Sample {
        let piece = self.content(record_type);
        let spelled = |value: &Value| with(base, "content", value.clone());
        let mut others = vec![spelled(&piece.other)];
        let changed = if record_type == "CNAME" { vec![others.remove(0)] } else { Vec::new() };
        Sample {
            spec: spelled(&piece.plain),
            spellings: piece.spellings.iter().map(spelled).collect(),
            others,
            changed,
        }
    }

    fn of_data(&mut self, pieces: &[Piece], base: &Value) -> Sample {
        let data = |value: &dyn Fn(&Piece) -> Value| {
            let parts = pieces.iter().map(|piece| (piece.name.to_owned(), value(piece)));
            with(base, "data", Value::Object(parts.collect::<Map<_, _>>()))
        };
        let spec = data(&|piece| piece.plain.clone());
        let mut spellings = Vec::new();
        let mut others = Vec::new();
        for changed in pieces {
            let one = |value: &Value| {
                data(&|piece| if piece.name == changed.name { value.clone() } else { piece.plain.clone() })
            };
            spellings.extend(changed.spellings.iter().map(one));
            others.push(one(&changed.other));
        }
        for _ in 0..4 {
            let words: Vec<String> = pieces.iter().map(|piece| self.one(&piece.words)).collect();
            let line = words.join(self.one(&[" ", "  ", "\t"]));
            spellings.push(with(base, "content", json!(line.trim_end())));
        }
        Sample { spec, spellings, others, changed: Vec::new() }
    }
}

fn with(base: &Value, member: &str, value: Value) -> Value {
    let mut record = base.clone();
    record[member] = value;
    record
}
