//! The shortest form of a sequence that still shows a difference: steps are taken out, one by one, as long as it does.

use super::sequence::Sequence;

/// The sequence without one step; `None` when another step needs that one's answer.
pub(crate) fn without(sequence: &Sequence, index: usize) -> Option<Sequence> {
    let number = index + 1;
    if sequence.requests.iter().any(|step| step.needs().contains(&number)) {
        return None;
    }
    let renumber = |at: usize| if at > number { at - 1 } else { at };
    let steps = sequence.requests.iter().enumerate().filter(|(at, _)| *at != index);
    let requests: Vec<_> = steps.map(|(_, step)| step.renumbered(&renumber)).collect();
    (!requests.is_empty()).then(|| Sequence { name: sequence.name.clone(), requests })
}

/// Takes out what is not needed for `fails`, from the end.
pub(crate) async fn shrink<F, R>(sequence: &Sequence, mut fails: F) -> Sequence
where
    F: FnMut(Sequence) -> R,
    R: Future<Output = bool>,
{
    let mut smallest = sequence.clone();
    let mut index = smallest.requests.len();
    while index > 0 {
        index -= 1;
        if let Some(smaller) = without(&smallest, index)
            && fails(smaller.clone()).await
        {
            smallest = smaller;
            index = index.min(smallest.requests.len());
        }
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::super::sequence::Step;
    use super::*;

    fn of(asks: &[&str]) -> Sequence {
        let step = |ask: &&str| Step { ask: (*ask).to_owned(), ..Step::default() };
        Sequence { name: "x".to_owned(), requests: asks.iter().map(step).collect() }
    }

    fn asks(sequence: &Sequence) -> Vec<&str> {
        sequence.requests.iter().map(|step| step.ask.as_str()).collect()
    }

    #[tokio::test]
    async fn what_a_difference_does_not_need_is_taken_out() {
        let whole = of(&["GET a", "POST b", "GET c", "PUT b?{2/x}", "GET d"]);
        let fails = |smaller: Sequence| async move {
            smaller.requests.iter().any(|step| step.ask.starts_with("PUT"))
        };
        assert_eq!(asks(&shrink(&whole, fails).await), ["POST b", "PUT b?{1/x}"]);
    }
}
