//! What a pipeline's way from one status to another brings along. The status itself is that of its jobs, and any may follow
//! any other.

use crate::Status;

/// Columns to set when a pipeline's status changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Effects {
    /// It began now, unless it did before.
    pub began: bool,
    pub ended: bool,
    /// How long its jobs ran is worked out.
    pub measured: bool,
    /// Whatever newer one had ended it counts no more.
    pub revived: bool,
}

pub(super) fn effects(before: Status, after: Status) -> Effects {
    use Status::{
        Canceled, Created, Failed, Manual, Pending, Preparing, Running, Success, WaitingForResource,
    };
    if before == after {
        return Effects::default();
    }
    let waited = matches!(before, Created | WaitingForResource | Preparing | Pending);
    let ended = matches!(after, Success | Failed | Canceled);
    Effects {
        began: waited && after == Running,
        ended,
        measured: ended || after == Manual,
        revived: before == Canceled,
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use kernel::TextEnum as _;

    use super::{Effects, effects};
    use crate::Status;

    #[test]
    fn the_whole_table() {
        let mut rows = String::new();
        for from in Status::ALL {
            for to in Status::ALL {
                let Effects { began, ended, measured, revived } = effects(*from, *to);
                let all = [
                    (began, "began"),
                    (ended, "ended"),
                    (measured, "measured"),
                    (revived, "revived"),
                ];
                let words: Vec<&str> =
                    all.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
                if !words.is_empty() {
                    writeln!(rows, "{from:<20} -> {to:<20} {}", words.join(" ")).unwrap();
                }
            }
        }
        insta::assert_snapshot!(rows);
    }
}
