//! Which of some known words was meant by another. Looks at words only, and rather says nothing than something odd.

/// Letters that may be wrong in a word for another to count as what was meant: a slip or two, not another word.
const SLIPS_MAX: usize = 2;

/// Letters of a word that another may merely begin with, to count as what was meant.
const BEGUN_MIN: usize = 3;

/// The nearest of some names, if it is near enough to have been meant.
pub(crate) fn nearest<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let names: Vec<&str> = names.into_iter().collect();
    let slips = |name: &&str| slips(&word.to_lowercase(), &name.to_lowercase());
    let nearest = names.iter().copied().min_by_key(slips)?;
    if slips(&nearest) <= SLIPS_MAX.min(word.len() / 2) {
        return Some(nearest);
    }
    let mut begun = names.into_iter().filter(|name| word.len() >= BEGUN_MIN && name.starts_with(word));
    begun.next().filter(|_| begun.next().is_none())
}

/// Insertions, deletions, replacements and swaps of neighbours that make one word of another.
fn slips(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let replaced = rows[i][j] + usize::from(a != b);
            let mut least = replaced.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && from[i - 1] == *b && to[j - 1] == *a {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows.last().and_then(|row| row.last()).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_seen_and_another_word_is_not() {
        let names = ["content", "comment", "ttl", "zoneRef"];
        assert_eq!(nearest("contnet", names), Some("content"));
        assert_eq!(nearest("tll", names), Some("ttl"));
        assert_eq!(nearest("zoneref", names), Some("zoneRef"));
        assert_eq!(nearest("weight", names), None);
        assert_eq!(nearest("x", names), None);
    }

    #[test]
    fn a_word_that_was_only_begun_is_meant_when_there_is_one() {
        assert_eq!(nearest("timeout-after", ["timeout-after-commit", "500"]), Some("timeout-after-commit"));
        assert_eq!(nearest("timeout", ["timeout-after-commit", "timeout-before-commit"]), None);
        assert_eq!(nearest("apiVersion:", ["apply", "point"]), None);
    }
}
