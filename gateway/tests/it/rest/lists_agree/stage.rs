//! A random world, made by calls, and the same in the model: what a call refuses does not happen there, either.

use db::testing::start;
use kernel::{ids::ProjectId, time::date_text};
use serde_json::{Value, json};
use time::Duration;

use super::model::{GUEST, Given, Group, Project, Visibility, World};
use crate::support::{Person, TestApp};

/// Numbers that look random, the same for the same seed.
#[derive(Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let most = u64::try_from(most).unwrap_or(1);
        usize::try_from((self.0 >> 11) % most).unwrap_or(0)
    }
}

const PEOPLE: usize = 4;
const GROUPS: usize = 7;
const PROJECTS: usize = 6;
const STEPS: usize = 26;
const LEVELS: [i64; 4] = [GUEST, 20, 30, 40];

/// What was made, by its number in the model.
pub(super) struct Stage<'a> {
    pub(super) app: &'a TestApp,
    /// Who owns everything.
    ada: Person<'a>,
    pub(super) people: Vec<Person<'a>>,
    pub(super) groups: Vec<i64>,
    pub(super) projects: Vec<i64>,
    pub(super) world: World,
    dice: Dice,
}

impl<'a> Stage<'a> {
    pub(super) async fn new(app: &'a TestApp, seed: u64) -> Self {
        let ada = app.person("ada");
        let people = (0..PEOPLE).map(|number| app.person(&format!("p{number}"))).collect();
        let (groups, projects) = (Vec::new(), Vec::new());
        let (world, dice) = (World::default(), Dice::new(seed));
        let mut stage = Self { app, ada, people, groups, projects, world, dice };
        for _ in 0..GROUPS {
            stage.make_group().await;
        }
        for _ in 0..PROJECTS {
            stage.make_project().await;
        }
        for _ in 0..STEPS {
            stage.step().await;
        }
        stage
    }

    /// Mostly private, and never more open than what it lies in.
    fn visibility(&mut self, most: Visibility) -> Visibility {
        match self.dice.below(3) {
            0 => Visibility::ALL[self.dice.below(3)].min(most),
            _ => Visibility::Private,
        }
    }

    async fn make_group(&mut self) {
        let number = self.groups.len();
        let parent = (number > 0 && self.dice.below(3) > 0).then(|| self.dice.below(number));
        let most = parent.map_or(Visibility::Public, |parent| self.world.groups[parent].visibility);
        let visibility = self.visibility(most);
        let parent_id = parent.map(|parent| self.groups[parent]);
        let more = json!({ "parent_id": parent_id, "visibility": visibility.name() });
        self.groups.push(self.ada.group_with(&format!("g{number}"), more).await);
        self.world.groups.push(Group { parent, visibility, locked: false });
    }

    /// With an issue, a confidential one and a merge request.
    async fn make_project(&mut self) {
        let home = self.dice.below(GROUPS);
        let visibility = self.visibility(self.world.groups[home].visibility);
        let name = format!("x{}", self.projects.len());
        let new = json!({ "name": name, "namespace_id": self.groups[home], "visibility": visibility.name() });
        let id = self.ada.post("/projects", new).await.created()["id"].as_i64().expect("an id");
        self.app.issue(ProjectId(id), &self.ada);
        self.app.confidential_issue(ProjectId(id), &self.ada);
        self.app.merge_request(ProjectId(id), &self.ada);
        self.projects.push(id);
        self.world.projects.push(Project { home, visibility });
    }

    /// A level, mostly without an end; and the parameters that give it.
    fn given(&mut self, level: &str) -> (Given, Value) {
        let end = (self.dice.below(3) == 0).then(|| self.world.today + 1);
        let given = (LEVELS[self.dice.below(4)], end);
        let date = end.map(|day| date_text(start().plus(Duration::days(i64::from(day))).date()));
        (given, json!({ level: given.0, "expires_at": date }))
    }

    async fn is_done(&self, path: &str, body: Value) -> bool {
        (200..300).contains(&self.ada.post(path, body).await.status)
    }

    async fn step(&mut self) {
        let (group, other) = (self.dice.below(GROUPS), self.dice.below(GROUPS));
        let (project, person) = (self.dice.below(PROJECTS), self.dice.below(PEOPLE));
        match self.dice.below(12) {
            0..=2 => {
                let place = format!("/groups/{}/members", self.groups[group]);
                if let Some(given) = self.join(&place, person).await {
                    self.world.in_groups.insert((group, person), given);
                }
            }
            3 | 4 => {
                let place = format!("/projects/{}/members", self.projects[project]);
                if let Some(given) = self.join(&place, person).await {
                    self.world.in_projects.insert((project, person), given);
                }
            }
            5 | 6 => {
                let path = format!("/groups/{}/share", self.groups[group]);
                if let Some(given) = self.share(&path, other).await {
                    self.world.group_links.insert((group, other), given);
                }
            }
            7 | 8 => {
                let path = format!("/projects/{}/share", self.projects[project]);
                if let Some(given) = self.share(&path, other).await {
                    self.world.project_links.insert((project, other), given);
                }
            }
            9 => self.lock(group).await,
            10 => self.move_group(group, other).await,
            _ => self.move_project(project, other).await,
        }
    }

    async fn join(&mut self, place: &str, person: usize) -> Option<Given> {
        let (given, mut body) = self.given("access_level");
        body["user_id"] = json!(self.app.user(&self.people[person].username).id);
        self.is_done(place, body).await.then_some(given)
    }

    async fn share(&mut self, path: &str, invited: usize) -> Option<Given> {
        let (given, mut body) = self.given("group_access");
        body["group_id"] = json!(self.groups[invited]);
        self.is_done(path, body).await.then_some(given)
    }

    /// Locks a group and all below it, or opens it alone.
    async fn lock(&mut self, group: usize) {
        let locked = !self.world.groups[group].locked;
        let body = json!({ "share_with_group_lock": locked });
        self.ada.put(&format!("/groups/{}", self.groups[group]), body).await.ok();
        for at in 0..GROUPS {
            if at == group || (locked && self.world.is_below(at, group)) {
                self.world.groups[at].locked = locked;
            }
        }
    }

    async fn move_group(&mut self, group: usize, parent: usize) {
        let path = format!("/groups/{}/transfer", self.groups[group]);
        if !self.is_done(&path, json!({ "group_id": self.groups[parent] })).await {
            return;
        }
        self.world.groups[group].parent = Some(parent);
        self.world.lower(group, self.world.groups[parent].visibility);
        for at in 0..GROUPS {
            let inside = at == group || self.world.is_below(at, group);
            self.world.groups[at].locked |= inside && self.world.groups[parent].locked;
        }
    }

    async fn move_project(&mut self, project: usize, home: usize) {
        let path = format!("/projects/{}/transfer", self.projects[project]);
        let body = json!({ "namespace": self.groups[home] });
        if (200..300).contains(&self.ada.put(&path, body).await.status) {
            let most = self.world.groups[home].visibility;
            let moved = &mut self.world.projects[project];
            (moved.home, moved.visibility) = (home, moved.visibility.min(most));
        }
    }

    /// A day passes, and what ended with it is cleared away.
    pub(super) async fn sleep(&mut self) {
        // What is done daily is planned by the first who asks for it, and done by the next.
        self.app.recurring().await;
        self.app.clock.advance(Duration::days(1));
        self.world.today += 1;
        self.app.recurring().await;
    }
}
