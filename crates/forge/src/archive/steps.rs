//! The steps of an import in their order, and the places that are saved for them. A place follows from the names of its
//! step and of all steps before it: a server of another version goes on at a place where all of these are its own, too,
//! whatever else it does later. Elsewhere it would leave something out.

use std::collections::HashMap;

use db::archive::Relation;
use sha2::{Digest as _, Sha256};

use super::layout;

/// Comes before the lists of a project: everything that is no row is there by then.
pub(super) const LISTS: &str = "lists";
pub(super) const JOB_LOGS: &str = "job_logs";
pub(super) const JOB_ARTIFACTS: &str = "job_artifacts";
pub(super) const IDENTITIES: &str = "identities";

/// The place of an import whose rows and files are on their way out. No step has it.
pub(super) const NOWHERE: i64 = -1;

/// Bytes of a digest that make a place.
const PLACE_BYTES: usize = 8;

/// The steps of a project.
pub(super) fn of_project() -> Vec<String> {
    let lists = layout::project_relations().into_iter().map(|relation| relation.name);
    let all = [LISTS].into_iter().chain(lists).chain([JOB_LOGS, JOB_ARTIFACTS, IDENTITIES]);
    all.map(str::to_owned).collect()
}

/// The steps of so many groups of one archive.
pub(super) fn of_groups(count: usize) -> Vec<String> {
    let lists = layout::group_relations().into_iter();
    lists.flat_map(|relation| (0..count).map(move |number| of_group(relation, number))).collect()
}

/// The step that writes a list of a group, which has this number among the groups of the archive.
pub(super) fn of_group(relation: &Relation, number: usize) -> String {
    format!("{}/{number}", relation.name)
}

/// The places of steps that come one after another. All are less than 0, the place before them. The first versions counted
/// lists from 1 on and took those before a place for done: at one of these places they write all lists again, which fails,
/// and leave none out.
fn places(steps: &[String]) -> Vec<i64> {
    let mut names = Sha256::new();
    let place = |step: &String| {
        names.update(step);
        names.update("\n");
        let digest = names.clone().finalize();
        let bytes = digest.iter().take(PLACE_BYTES);
        i64::MIN | bytes.fold(0_i64, |number, byte| (number << 8) | i64::from(*byte))
    };
    steps.iter().map(place).collect()
}

/// How far an import is in its steps.
#[derive(Clone, Debug)]
pub(super) struct StepCursor {
    /// The places of the steps that are not over, by the names of these.
    left: HashMap<String, i64>,
}

impl StepCursor {
    /// The cursor of an import that has all of its steps before it.
    pub(super) fn start(all: &[String]) -> Self {
        Self { left: all.iter().cloned().zip(places(all)).collect() }
    }

    /// The cursor of an import at this place, of all of its steps in their order. Nothing for a place that none of them
    /// has: other steps came before it, or the import is [`NOWHERE`].
    pub(super) fn at(place: i64, all: &[String]) -> Option<Self> {
        if place == 0 {
            return Some(Self::start(all));
        }
        let places = places(all);
        let over = places.iter().position(|own| *own == place)?;
        Some(Self { left: all.iter().cloned().zip(places).skip(over).collect() })
    }

    /// The place of a step that is not over.
    pub(super) fn place(&self, step: &str) -> Option<i64> {
        self.left.get(step).copied()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{NOWHERE, StepCursor, of_groups, of_project, places};

    fn steps(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn every_step_has_a_place_of_its_own_in_all_versions() {
        for all in [of_project(), of_groups(1000)] {
            let names: HashSet<&String> = all.iter().collect();
            let own: HashSet<i64> = places(&all).into_iter().collect();
            assert_eq!((names.len(), own.len()), (all.len(), all.len()));
            assert!(own.iter().all(|place| *place < NOWHERE));
        }
        let first = places(&steps(&["lists", "labels"]));
        assert_eq!(first, [-7_433_125_242_445_229_416, -6_869_519_700_181_609_793]);
    }

    #[test]
    fn an_import_goes_on_where_the_same_steps_are_over() {
        let old = places(&steps(&["lists", "labels", "issues", "notes"]));
        let left = |place, names: &[&'static str]| {
            let cursor = StepCursor::at(place, &steps(names))?;
            let left = names.iter().copied().filter(|name| cursor.place(name).is_some());
            Some(left.collect::<Vec<_>>())
        };
        let newer = ["lists", "labels", "issues", "pots", "notes"];
        assert_eq!(left(old[2], &newer), Some(vec!["issues", "pots", "notes"]));
        assert_eq!(left(0, &newer), Some(newer.to_vec()));
        for (place, why) in [(old[3], "pots come before it"), (NOWHERE, "nowhere"), (3, "a number")]
        {
            assert_eq!(left(place, &newer), None, "{why}");
        }
        for names in [["lists", "issues", "labels"], ["labels", "issues", "notes"]] {
            assert_eq!(left(old[2], &names), None, "{names:?}");
        }
    }
}
