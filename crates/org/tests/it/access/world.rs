//! What may happen, and a plain reading of what follows.

use std::collections::{BTreeMap, BTreeSet};

use kernel::{AccessLevel, Ts};
use proptest::prelude::*;

pub(super) const PEOPLE: usize = 4;
pub(super) const GROUPS: usize = 6;
pub(super) const PROJECTS: usize = 3;
pub(super) const LEVELS: [AccessLevel; 6] = [
    AccessLevel::Minimal,
    AccessLevel::Guest,
    AccessLevel::Reporter,
    AccessLevel::Developer,
    AccessLevel::Maintainer,
    AccessLevel::Owner,
];

/// One thing that happens. Ends are days from now; 0 is never.
#[derive(Clone, Debug)]
pub(super) enum Step {
    JoinGroup {
        group: usize,
        person: usize,
        level: usize,
        end: i64,
    },
    LeaveGroup {
        group: usize,
        person: usize,
    },
    JoinProject {
        project: usize,
        person: usize,
        level: usize,
        end: i64,
    },
    LeaveProject {
        project: usize,
        person: usize,
    },
    ShareGroup {
        group: usize,
        invited: usize,
        level: usize,
        end: i64,
    },
    UnshareGroup {
        group: usize,
        invited: usize,
    },
    ShareProject {
        project: usize,
        invited: usize,
        level: usize,
        end: i64,
    },
    UnshareProject {
        project: usize,
        invited: usize,
    },
    MoveGroup {
        group: usize,
        parent: Option<usize>,
    },
    MoveProject {
        project: usize,
        group: usize,
    },
    LockOut {
        group: usize,
        person: usize,
    },
    LetIn {
        group: usize,
        person: usize,
    },
    /// Whether projects right in a group are reached by way of other groups.
    SetLock {
        group: usize,
        on: bool,
    },
    /// A day passes. What ended is cleared away, or nobody has come to it yet.
    Sleep {
        cleared: bool,
    },
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let (group, project, person) = (0..GROUPS, 0..PROJECTS, 0..PEOPLE);
    let (level, end) = (0..LEVELS.len(), 0_i64..3);
    prop_oneof![
        4 => (group.clone(), person.clone(), level.clone(), end.clone())
            .prop_map(|(group, person, level, end)| Step::JoinGroup { group, person, level, end }),
        1 => (group.clone(), person.clone())
            .prop_map(|(group, person)| Step::LeaveGroup { group, person }),
        2 => (project.clone(), person.clone(), level.clone(), end.clone())
            .prop_map(|(project, person, level, end)| Step::JoinProject { project, person, level, end }),
        1 => (project.clone(), person.clone())
            .prop_map(|(project, person)| Step::LeaveProject { project, person }),
        1 => (group.clone(), person.clone())
            .prop_map(|(group, person)| Step::LockOut { group, person }),
        1 => (group.clone(), person)
            .prop_map(|(group, person)| Step::LetIn { group, person }),
        1 => (group.clone(), any::<bool>()).prop_map(|(group, on)| Step::SetLock { group, on }),
        3 => (group.clone(), group.clone(), level.clone(), end.clone())
            .prop_map(|(group, invited, level, end)| Step::ShareGroup { group, invited, level, end }),
        1 => (group.clone(), group.clone())
            .prop_map(|(group, invited)| Step::UnshareGroup { group, invited }),
        2 => (project.clone(), group.clone(), level, end)
            .prop_map(|(project, invited, level, end)| Step::ShareProject { project, invited, level, end }),
        1 => (project.clone(), group.clone())
            .prop_map(|(project, invited)| Step::UnshareProject { project, invited }),
        3 => (group.clone(), prop::option::weighted(0.8, group.clone()))
            .prop_map(|(group, parent)| Step::MoveGroup { group, parent }),
        1 => (project, group).prop_map(|(project, group)| Step::MoveProject { project, group }),
        2 => any::<bool>().prop_map(|cleared| Step::Sleep { cleared }),
    ]
}

/// A level and the moment at which it ends.
pub(super) type TimedLevel = (usize, Option<Ts>);

/// What was given where, and nothing worked out.
#[derive(Clone, Debug, Default)]
pub(super) struct World {
    pub(super) parents: [Option<usize>; GROUPS],
    pub(super) homes: [usize; PROJECTS],
    pub(super) in_groups: BTreeMap<(usize, usize), TimedLevel>,
    pub(super) in_projects: BTreeMap<(usize, usize), TimedLevel>,
    pub(super) group_links: BTreeMap<(usize, usize), TimedLevel>,
    pub(super) project_links: BTreeMap<(usize, usize), TimedLevel>,
    pub(super) locked_out: BTreeSet<(usize, usize)>,
    pub(super) locks: BTreeSet<usize>,
}

fn living(given: Option<&TimedLevel>, now: Ts) -> Option<usize> {
    given.filter(|(_, end)| end.is_none_or(|end| end > now)).map(|(level, _)| *level)
}

impl World {
    /// A group and those above it.
    pub(super) fn line(&self, group: usize) -> Vec<usize> {
        std::iter::successors(Some(group), |group| self.parents[*group]).collect()
    }

    /// The highest role, above a mere seat, that membership of a group or of one above it gives.
    fn own(&self, group: usize, person: usize, now: Ts) -> Option<usize> {
        let given =
            self.line(group).into_iter().map(|at| living(self.in_groups.get(&(at, person)), now));
        given.flatten().filter(|level| *level > 0).max()
    }

    /// Whether somebody is locked out of a group, or of one above it.
    fn is_locked_out(&self, group: usize, person: usize) -> bool {
        self.line(group).into_iter().any(|at| self.locked_out.contains(&(at, person)))
    }

    pub(super) fn in_group(&self, group: usize, person: usize, now: Ts) -> Option<usize> {
        if self.is_locked_out(group, person) {
            return None;
        }
        let mut levels = vec![living(self.in_groups.get(&(group, person)), now)];
        levels.push(self.own(group, person, now));
        for at in self.line(group) {
            for ((_, invited), link) in self.group_links.iter().filter(|(key, _)| key.0 == at) {
                let Some(cap) = living(Some(link), now) else { continue };
                let member = living(self.in_groups.get(&(*invited, person)), now);
                let level = member.filter(|level| *level > 0).map(|level| level.min(cap));
                levels.push(level.filter(|level| at == group || *level > 0));
            }
        }
        levels.into_iter().flatten().max()
    }

    pub(super) fn in_project(&self, project: usize, person: usize, now: Ts) -> Option<usize> {
        if self.is_locked_out(self.homes[project], person) {
            return None;
        }
        let inherited = self.in_group(self.homes[project], person, now).filter(|level| *level > 0);
        let mut levels = vec![inherited, living(self.in_projects.get(&(project, person)), now)];
        let open = !self.locks.contains(&self.homes[project]);
        let links = self.project_links.iter().filter(|(key, _)| open && key.0 == project);
        for ((_, invited), link) in links {
            let Some(cap) = living(Some(link), now) else { continue };
            let there = self.in_group(*invited, person, now).filter(|level| *level > 0);
            levels.push(there.map(|level| level.min(cap)));
        }
        levels.into_iter().flatten().max()
    }
}
