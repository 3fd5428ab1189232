//! A plain reading of the rules: what was given where, and who sees what by that. Nothing is worked out ahead.

use std::collections::{BTreeMap, BTreeSet};

pub(super) const GUEST: i64 = 10;
const REPORTER: i64 = 20;

/// A level, and the day on which it ends.
pub(super) type TimedLevel = (i64, Option<u32>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Visibility {
    Private,
    Internal,
    Public,
}

impl Visibility {
    pub(super) const ALL: [Self; 3] = [Self::Private, Self::Internal, Self::Public];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Internal => "internal",
            Self::Public => "public",
        }
    }

    fn is_open_to(self, person: Option<usize>) -> bool {
        self == Self::Public || (self == Self::Internal && person.is_some())
    }
}

#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) parent: Option<usize>,
    pub(super) visibility: Visibility,
    pub(super) locked: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Project {
    pub(super) home: usize,
    pub(super) visibility: Visibility,
}

/// Groups, projects and people by their numbers here.
#[derive(Clone, Debug, Default)]
pub(super) struct World {
    pub(super) today: u32,
    pub(super) groups: Vec<Group>,
    pub(super) projects: Vec<Project>,
    pub(super) in_groups: BTreeMap<(usize, usize), TimedLevel>,
    pub(super) in_projects: BTreeMap<(usize, usize), TimedLevel>,
    pub(super) group_links: BTreeMap<(usize, usize), TimedLevel>,
    pub(super) project_links: BTreeMap<(usize, usize), TimedLevel>,
}

impl World {
    fn living(&self, given: Option<&TimedLevel>) -> i64 {
        given.filter(|(_, end)| end.is_none_or(|end| self.today < end)).map_or(0, |given| given.0)
    }

    /// A group and those above it.
    pub(super) fn line(&self, group: usize) -> Vec<usize> {
        std::iter::successors(Some(group), |group| self.groups[*group].parent).collect()
    }

    pub(super) fn is_below(&self, group: usize, top: usize) -> bool {
        group != top && self.line(group).contains(&top)
    }

    fn role_in_group(&self, person: usize, group: usize) -> i64 {
        let mut best = 0;
        for at in self.line(group) {
            best = best.max(self.living(self.in_groups.get(&(at, person))));
            for ((_, invited), link) in self.group_links.iter().filter(|(key, _)| key.0 == at) {
                let member = self.living(self.in_groups.get(&(*invited, person)));
                best = best.max(member.min(self.living(Some(link))));
            }
        }
        best
    }

    fn role_in_project(&self, person: usize, project: usize) -> i64 {
        let home = self.projects[project].home;
        let mut best = self.role_in_group(person, home);
        best = best.max(self.living(self.in_projects.get(&(project, person))));
        let open = !self.groups[home].locked;
        for ((_, invited), link) in
            self.project_links.iter().filter(|(key, _)| open && key.0 == project)
        {
            best = best.max(self.role_in_group(person, *invited).min(self.living(Some(link))));
        }
        best
    }

    /// Whether somebody has a role in a group, or anywhere below it.
    pub(super) fn passes(&self, person: usize, group: usize) -> bool {
        (0..self.groups.len())
            .any(|at| self.line(at).contains(&group) && self.role_in_group(person, at) >= GUEST)
            || (0..self.projects.len()).any(|project| {
                self.line(self.projects[project].home).contains(&group)
                    && self.role_in_project(person, project) >= GUEST
            })
    }

    pub(super) fn sees_group(&self, person: Option<usize>, group: usize) -> bool {
        self.groups[group].visibility.is_open_to(person)
            || person.is_some_and(|person| self.passes(person, group))
    }

    /// Whether somebody sees a project, where that needs a role of this level in private ones.
    fn sees_inside(&self, person: Option<usize>, project: usize, level: i64) -> bool {
        self.projects[project].visibility.is_open_to(person)
            || person.is_some_and(|person| self.role_in_project(person, project) >= level)
    }

    pub(super) fn sees_project(&self, person: Option<usize>, project: usize) -> bool {
        self.sees_inside(person, project, GUEST)
    }

    /// Merge requests show code.
    pub(super) fn reads_changes(&self, person: Option<usize>, project: usize) -> bool {
        self.sees_inside(person, project, REPORTER)
    }

    pub(super) fn reads_secrets(&self, person: Option<usize>, project: usize) -> bool {
        person.is_some_and(|person| self.role_in_project(person, project) >= REPORTER)
    }

    /// Which groups a list of what a group is shared with may name.
    pub(super) fn links_of_group(&self, group: usize) -> BTreeSet<usize> {
        self.living_links(&self.group_links, group)
    }

    pub(super) fn links_of_project(&self, project: usize) -> BTreeSet<usize> {
        self.living_links(&self.project_links, project)
    }

    fn living_links(
        &self,
        links: &BTreeMap<(usize, usize), TimedLevel>,
        of: usize,
    ) -> BTreeSet<usize> {
        let living = links.iter().filter(|(key, link)| key.0 == of && self.living(Some(link)) > 0);
        living.map(|((_, invited), _)| *invited).collect()
    }

    /// What a group may show at most, and all in it.
    pub(super) fn lower(&mut self, top: usize, most: Visibility) {
        for group in 0..self.groups.len() {
            if self.line(group).contains(&top) {
                let kept = &mut self.groups[group].visibility;
                *kept = most.min(*kept);
            }
        }
        for project in 0..self.projects.len() {
            if self.line(self.projects[project].home).contains(&top) {
                let kept = &mut self.projects[project].visibility;
                *kept = most.min(*kept);
            }
        }
    }
}
