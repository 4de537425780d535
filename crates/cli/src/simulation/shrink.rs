//! Makes a failing run small: drops steps as long as it still fails.

use super::draw::Drawn;

/// Runs that a failure may cost; what is left then is small enough to read.
const ATTEMPTS_MAX: usize = 300;

/// Drops steps greedily, halves first, and gives what is left with its problems.
pub(super) fn shrink(
    mut drawn: Drawn,
    fails: impl Fn(&Drawn) -> Option<Vec<String>>,
) -> (Drawn, Vec<String>) {
    let mut problems = fails(&drawn).unwrap_or_default();
    let mut attempts = 0;
    let mut size = drawn.lines.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        let before = drawn.lines.len();
        while at < drawn.lines.len() && attempts < ATTEMPTS_MAX {
            let end = (at + size).min(drawn.lines.len());
            let mut smaller = drawn.clone();
            smaller.lines.drain(at..end);
            attempts += 1;
            match fails(&smaller) {
                Some(found) => (drawn, problems) = (smaller, found),
                None => at = end,
            }
        }
        let shrank = drawn.lines.len() < before;
        size = match size {
            1 if shrank && attempts < ATTEMPTS_MAX => 1,
            size => size / 2,
        };
    }
    (drawn, problems)
}

#[cfg(test)]
mod tests {
    use super::super::draw::draw;
    use super::*;

    #[test]
    fn only_what_is_needed_is_left() {
        let mut drawn = draw(1);
        drawn.lines = (0..40).map(|n| n.to_string()).collect();
        let fails = |drawn: &Drawn| {
            let has = |line: &str| drawn.lines.iter().any(|other| other == line);
            (has("7") && has("31")).then(|| vec!["both".to_owned()])
        };
        let (small, problems) = shrink(drawn, fails);
        assert_eq!((small.lines, problems), (vec!["7".to_owned(), "31".to_owned()], vec!["both".to_owned()]));
    }
}
