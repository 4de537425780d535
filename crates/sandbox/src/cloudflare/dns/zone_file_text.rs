//! The text of zone files (RFC 1035, section 5): read into entries.
//! Which records the entries become is left to `zone_file`.

/// One record of a zone file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Absolute, without the final dot.
    pub(super) name: String,
    pub(super) ttl: Option<u64>,
    pub(super) kind: String,
    /// The words of the data; quoted ones keep their quotes.
    pub(super) words: Vec<String>,
    /// What stands after `;` on its line.
    pub(super) comment: String,
    /// What relative names in the data are relative to.
    pub(super) origin: String,
}

/// A line after parentheses are joined.
#[derive(Debug, Default)]
struct Line {
    indented: bool,
    words: Vec<String>,
    comment: String,
}

/// Reads the records of a zone file; the error says what is wrong with which line of the text.
pub(super) fn entries(text: &str, zone: &str) -> Result<Vec<Entry>, String> {
    let mut origin = zone.to_owned();
    let mut default_ttl = None;
    let mut owner = zone.to_owned();
    let mut entries = Vec::new();
    for line in lines(text)? {
        let mut words = line.words.into_iter().peekable();
        let Some(first) = words.peek().cloned() else { continue };
        match first.to_ascii_uppercase().as_str() {
            "$ORIGIN" => {
                let name = words.nth(1).ok_or("$ORIGIN without a name")?;
                origin = absolute(&name, &origin);
                continue;
            }
            "$TTL" => {
                let ttl = words.nth(1).and_then(|ttl| ttl.parse().ok()).ok_or("$TTL without a number")?;
                default_ttl = Some(ttl);
                continue;
            }
            directive if directive.starts_with('$') => return Err(format!("{first} is not supported")),
            _ => {}
        }
        if !line.indented {
            owner = absolute(&first, &origin);
            words.next();
        }
        let mut ttl = default_ttl;
        let kind = loop {
            let word = words.next().ok_or_else(|| format!("{owner} has no record type"))?;
            match word.parse() {
                Ok(number) => ttl = Some(number),
                Err(_) if matches!(word.to_ascii_uppercase().as_str(), "IN" | "CH" | "HS") => {}
                Err(_) => break word.to_ascii_uppercase(),
            }
        };
        entries.push(Entry {
            name: owner.clone(),
            ttl,
            kind,
            words: words.collect(),
            comment: line.comment,
            origin: origin.clone(),
        });
    }
    Ok(entries)
}

/// A name of the file made absolute, without the final dot.
pub(super) fn absolute(name: &str, origin: &str) -> String {
    match (name, name.strip_suffix('.')) {
        ("@", _) => origin.to_owned(),
        (_, Some(full)) => full.to_owned(),
        (relative, None) => format!("{relative}.{origin}"),
    }
}

fn lines(text: &str) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    let mut line = Line::default();
    let mut depth = 0_usize;
    for raw in text.lines() {
        if depth == 0 {
            line = Line { indented: raw.starts_with([' ', '\t']), ..Line::default() };
        }
        read_line(raw, &mut line, &mut depth)?;
        if depth == 0 {
            lines.push(std::mem::take(&mut line));
        }
    }
    if depth > 0 { Err("a parenthesis is not closed".to_owned()) } else { Ok(lines) }
}

fn read_line(raw: &str, line: &mut Line, depth: &mut usize) -> Result<(), String> {
    let mut word = String::new();
    let mut in_quotes = false;
    let mut chars = raw.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => {
                word.push(char);
                word.extend(chars.next().map(|(_, escaped)| escaped));
            }
            '"' => {
                word.push(char);
                in_quotes = !in_quotes;
            }
            _ if in_quotes => word.push(char),
            ';' => {
                line.comment.push_str(raw.get(at + 1..).unwrap_or("").trim());
                break;
            }
            '(' => *depth += 1,
            ')' => *depth = depth.checked_sub(1).ok_or("a parenthesis closes nothing")?,
            ' ' | '\t' => finish(&mut word, line),
            plain => word.push(plain),
        }
    }
    if in_quotes {
        return Err("a quote is not closed".to_owned());
    }
    finish(&mut word, line);
    Ok(())
}

fn finish(word: &mut String, line: &mut Line) {
    if !word.is_empty() {
        line.words.push(std::mem::take(word));
    }
}
