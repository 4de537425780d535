//! Label selectors: `k8s.io/apimachinery/pkg/labels`, whose parser this is, token by token, so that what is malformed is
//! refused in its words. Leaves field selectors to `selector`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::names::{label_key_errors, label_value_errors};

/// One term of a selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Requirement {
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Missing(String),
    Above(String, i64),
    Below(String, i64),
}

impl Requirement {
    /// Matches the labels of an object.
    pub(crate) fn matches(&self, labels: &Value) -> bool {
        let label = |key: &str| labels.get(key).and_then(Value::as_str);
        let number = |key: &str| label(key).and_then(|text| text.parse::<i64>().ok());
        match self {
            Self::In(key, values) => {
                label(key).is_some_and(|found| values.iter().any(|value| value == found))
            }
            Self::NotIn(key, values) => {
                label(key).is_none_or(|found| values.iter().all(|value| value != found))
            }
            Self::Exists(key) => label(key).is_some(),
            Self::Missing(key) => label(key).is_none(),
            Self::Above(key, bound) => number(key).is_some_and(|found| found > *bound),
            Self::Below(key, bound) => number(key).is_some_and(|found| found < *bound),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Error,
    End,
    Closed,
    Comma,
    NotExists,
    DoubleEquals,
    Equals,
    Above,
    Below,
    Identifier,
    In,
    NotEquals,
    NotIn,
    Open,
}

const SPECIAL: &[char] = &['=', '!', '(', ')', ',', '>', '<'];
/// What Go's lexer takes for white space; a form feed is a letter of a word.
const BLANKS: &[char] = &[' ', '\t', '\r', '\n'];
const OPERATORS: &str = "in, notin, =, ==, !=, gt, lt";

fn token_of(text: &str) -> Option<Token> {
    Some(match text {
        ")" => Token::Closed,
        "," => Token::Comma,
        "!" => Token::NotExists,
        "==" => Token::DoubleEquals,
        "=" => Token::Equals,
        ">" => Token::Above,
        "<" => Token::Below,
        "in" => Token::In,
        "!=" => Token::NotEquals,
        "notin" => Token::NotIn,
        "(" => Token::Open,
        _ => return None,
    })
}

/// Reads the whole selector.
pub(crate) fn parse(text: &str) -> Result<Vec<Requirement>, String> {
    let mut parser = Parser { tokens: scan(text), at: 0 };
    let mut requirements = Vec::new();
    loop {
        match parser.peek() {
            (Token::Identifier | Token::NotExists, _) => {
                let requirement = parser.requirement();
                requirements.push(requirement.map_err(|why| format!("unable to parse requirement: {why}"))?);
                match parser.next() {
                    (Token::End, _) => return Ok(requirements),
                    (Token::Comma, _) => match parser.peek() {
                        (Token::Identifier | Token::NotExists, _) => {}
                        (_, found) => {
                            return Err(format!("found '{found}', expected: identifier after ','"));
                        }
                    },
                    (_, found) => return Err(format!("found '{found}', expected: ',' or 'end of string'")),
                }
            }
            (Token::End, _) => return Ok(requirements),
            (_, found) => {
                return Err(format!("found '{found}', expected: !, identifier, or 'end of string'"));
            }
        }
    }
}

fn scan(text: &str) -> Vec<(Token, String)> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(BLANKS);
        let Some(first) = rest.chars().next() else { break };
        let length = if SPECIAL.contains(&first) { special(rest) } else { word(rest) };
        let (token, tail) = rest.split_at(length);
        match token_of(token) {
            Some(known) => tokens.push((known, token.to_owned())),
            None if SPECIAL.contains(&first) => {
                tokens.push((Token::Error, format!("error expected: keyword found '{token}'")));
            }
            None => tokens.push((Token::Identifier, token.to_owned())),
        }
        rest = tail;
    }
    tokens.push((Token::End, String::new()));
    tokens
}

fn word(text: &str) -> usize {
    text.find(|letter: char| SPECIAL.contains(&letter) || BLANKS.contains(&letter)).unwrap_or(text.len())
}

/// The longest operator that the special characters at the start make.
fn special(text: &str) -> usize {
    let (mut known, mut run) = (0, 0);
    // No further than the operator goes: a text of a thousand parentheses is a thousand tokens.
    for letter in text.chars().take_while(|letter| SPECIAL.contains(letter)) {
        run += letter.len_utf8();
        if token_of(&text[..run]).is_some() {
            known = run;
        } else if known > 0 {
            break;
        }
    }
    if known > 0 { known } else { run }
}

struct Parser {
    tokens: Vec<(Token, String)>,
    at: usize,
}

impl Parser {
    fn raw(&self) -> (Token, String) {
        self.tokens.get(self.at).cloned().unwrap_or((Token::End, String::new()))
    }

    /// The next token where a value may stand: `in` is one, too.
    fn peek(&self) -> (Token, String) {
        match self.raw() {
            (Token::In | Token::NotIn, text) => (Token::Identifier, text),
            other => other,
        }
    }

    fn next(&mut self) -> (Token, String) {
        let found = self.peek();
        self.at += 1;
        found
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let (mut token, mut key) = self.next();
        let negated = token == Token::NotExists;
        if negated {
            (token, key) = self.next();
        }
        if token != Token::Identifier {
            return Err(format!("found '{key}', expected: identifier"));
        }
        let errors = label_key_errors(&key);
        if !errors.is_empty() {
            return Err(format!("<nil>: Invalid value: {key:?}: {}", errors.join("; ")));
        }
        if negated {
            return Ok(Requirement::Missing(key));
        }
        if matches!(self.peek().0, Token::End | Token::Comma) {
            return Ok(Requirement::Exists(key));
        }
        let (operator, found) = self.raw();
        self.at += 1;
        let values = match operator {
            Token::In | Token::NotIn => self.values()?,
            Token::Equals | Token::DoubleEquals | Token::NotEquals | Token::Above | Token::Below => {
                vec![self.exact()?]
            }
            _ => return Err(format!("found '{found}', expected: {OPERATORS}")),
        };
        let values: Vec<String> = values.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        let mut complaints = Vec::new();
        let bound = values.first().and_then(|text| text.parse::<i64>().ok());
        if matches!(operator, Token::Above | Token::Below) && bound.is_none() {
            let why = "for 'Gt', 'Lt' operators, the value must be an integer";
            complaints.push(format!("values[0]: Invalid value: {:?}: {why}", values.concat()));
        }
        for (index, value) in values.iter().enumerate() {
            let errors = label_value_errors(value);
            if !errors.is_empty() {
                let why = errors.join("; ");
                complaints.push(format!("values[{index}][{key}]: Invalid value: {value:?}: {why}"));
            }
        }
        match complaints.as_slice() {
            [] => {}
            [one] => return Err(one.clone()),
            many => return Err(format!("[{}]", many.join(", "))),
        }
        Ok(match (operator, bound) {
            (Token::NotIn | Token::NotEquals, _) => Requirement::NotIn(key, values),
            (Token::Above, Some(bound)) => Requirement::Above(key, bound),
            (Token::Below, Some(bound)) => Requirement::Below(key, bound),
            _ => Requirement::In(key, values),
        })
    }

    fn exact(&mut self) -> Result<String, String> {
        if matches!(self.peek().0, Token::End | Token::Comma) {
            return Ok(String::new());
        }
        match self.next() {
            (Token::Identifier, value) => Ok(value),
            (_, found) => Err(format!("found '{found}', expected: identifier")),
        }
    }

    fn values(&mut self) -> Result<Vec<String>, String> {
        let (token, found) = self.next();
        if token != Token::Open {
            return Err(format!("found '{found}' expected: '('"));
        }
        match self.peek() {
            (Token::Identifier | Token::Comma, first) => {
                let values = self.list()?;
                // The server quotes the first value, not what it found.
                if self.next().0 == Token::Closed {
                    Ok(values)
                } else {
                    Err(format!("found '{first}', expected: ')'"))
                }
            }
            (Token::Closed, _) => {
                self.at += 1;
                Ok(vec![String::new()])
            }
            (_, found) => Err(format!("found '{found}', expected: ',', ')' or identifier")),
        }
    }

    fn list(&mut self) -> Result<Vec<String>, String> {
        let mut values = Vec::new();
        loop {
            match self.next() {
                (Token::Identifier, value) => {
                    values.push(value);
                    match self.peek() {
                        (Token::Comma, _) => {}
                        (Token::Closed, _) => return Ok(values),
                        (_, found) => return Err(format!("found '{found}', expected: ',' or ')'")),
                    }
                }
                (Token::Comma, _) => {
                    if values.is_empty() {
                        values.push(String::new());
                    }
                    match self.peek().0 {
                        Token::Closed => {
                            values.push(String::new());
                            return Ok(values);
                        }
                        Token::Comma => values.push(String::new()),
                        _ => {}
                    }
                }
                (_, found) => return Err(format!("found '{found}', expected: ',', or identifier")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fits(selector: &str, labels: &Value) -> bool {
        parse(selector).unwrap().iter().all(|requirement| requirement.matches(labels))
    }

    #[test]
    fn an_operator_is_looked_for_no_further_than_it_goes() {
        assert_eq!(special(&"(".repeat(100_000)), 1);
        assert_eq!(special("==x"), 2);
        assert_eq!(special("=)"), 1);
    }

    #[test]
    fn selectors_match_labels() {
        let labels = json!({ "app": "web", "size": "7" });
        for selector in [
            "",
            "app",
            "!tier",
            "app=web",
            "app==web,size!=8",
            "app in (x, web)",
            "tier notin ()",
            "size>6,size<8",
        ] {
            assert!(fits(selector, &labels), "{selector}");
        }
        for selector in ["!app", "app=", "app in (x)", "app notin (web)", "tier", "size>7"] {
            assert!(!fits(selector, &labels), "{selector}");
        }
    }

    #[test]
    fn malformed_selectors_are_refused_in_the_words_of_the_server() {
        for (selector, why) in [
            ("==", "found '==', expected: !, identifier, or 'end of string'"),
            ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
            ("a,,b", "found ',', expected: identifier after ','"),
            ("a in x", "unable to parse requirement: found 'x' expected: '('"),
            ("a in (x", "unable to parse requirement: found '', expected: ',' or ')'"),
            ("a=b)", "found ')', expected: ',' or 'end of string'"),
        ] {
            assert_eq!(parse(selector), Err(why.to_owned()), "{selector}");
        }
    }
}
