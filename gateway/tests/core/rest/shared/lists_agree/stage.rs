//! A random world, made by calls, and the same in the model: what a call refuses does not happen there, either.

use db::testing::start;
use kernel::{ids::ProjectId, time::date_text};
use serde_json::{Value, json};
use time::Duration;

use super::model::{GUEST, Group, Project, TimedLevel, Visibility, World};
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
    fn empty(app: &'a TestApp, seed: u64) -> Self {
        let ada = app.person("ada");
        let people = (0..PEOPLE).map(|number| app.person(&format!("p{number}"))).collect();
        let (groups, projects) = (Vec::new(), Vec::new());
        let (world, dice) = (World::default(), Dice::new(seed));
        Self { app, ada, people, groups, projects, world, dice }
    }

    pub(super) async fn new(app: &'a TestApp, seed: u64) -> Self {
        let mut stage = Self::empty(app, seed);
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

    /// What chance makes seldom, and what lists once told otherwise than pages.
    pub(super) async fn of_corners(app: &'a TestApp) -> Self {
        let mut stage = Self::empty(app, 1);
        let (lender, invited) =
            (stage.top(Visibility::Private).await, stage.top(Visibility::Private).await);
        let (way, open) =
            (stage.top(Visibility::Private).await, stage.top(Visibility::Public).await);
        let lent = stage.add_project(lender, Visibility::Private).await;
        let inner = stage.add_project(way, Visibility::Private).await;
        // Somebody has a role in a group, and what was shared with it is theirs no more.
        stage.put_into_group(invited, 0).await;
        stage.share_project(lent, invited).await;
        stage.lock(lender).await;
        // Somebody has a role in a project alone, and passes through the group that another one is shared with.
        stage.put_into_project(inner, 1).await;
        stage.share_group(open, way).await;
        stage
    }

    async fn top(&mut self, visibility: Visibility) -> usize {
        self.add_group(None, visibility).await
    }

    fn guest(&self, person: usize) -> Value {
        json!({ "user_id": self.app.user(&self.people[person].username).id, "access_level": GUEST })
    }

    async fn put_into_group(&mut self, group: usize, person: usize) {
        let place = format!("/groups/{}/members", self.groups[group]);
        assert!(self.is_done(&place, self.guest(person)).await);
        self.world.in_groups.insert((group, person), (GUEST, None));
    }

    async fn put_into_project(&mut self, project: usize, person: usize) {
        let place = format!("/projects/{}/members", self.projects[project]);
        assert!(self.is_done(&place, self.guest(person)).await);
        self.world.in_projects.insert((project, person), (GUEST, None));
    }

    async fn share_project(&mut self, project: usize, invited: usize) {
        let body = json!({ "group_id": self.groups[invited], "group_access": 30 });
        assert!(self.is_done(&format!("/projects/{}/share", self.projects[project]), body).await);
        self.world.project_links.insert((project, invited), (30, None));
    }

    async fn share_group(&mut self, group: usize, invited: usize) {
        let body = json!({ "group_id": self.groups[invited], "group_access": 30 });
        assert!(self.is_done(&format!("/groups/{}/share", self.groups[group]), body).await);
        self.world.group_links.insert((group, invited), (30, None));
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
        self.add_group(parent, visibility).await;
    }

    async fn add_group(&mut self, parent: Option<usize>, visibility: Visibility) -> usize {
        let number = self.groups.len();
        let parent_id = parent.map(|parent| self.groups[parent]);
        let more = json!({ "parent_id": parent_id, "visibility": visibility.name() });
        self.groups.push(self.ada.group_with(&format!("g{number}"), more).await);
        self.world.groups.push(Group { parent, visibility, locked: false });
        number
    }

    async fn make_project(&mut self) {
        let home = self.dice.below(GROUPS);
        let visibility = self.visibility(self.world.groups[home].visibility);
        self.add_project(home, visibility).await;
    }

    /// With an issue, a confidential one and a merge request.
    async fn add_project(&mut self, home: usize, visibility: Visibility) -> usize {
        let number = self.projects.len();
        let name = format!("x{number}");
        let new = json!({ "name": name, "namespace_id": self.groups[home], "visibility": visibility.name() });
        let id = self.ada.post("/projects", new).await.created()["id"].as_i64().expect("an id");
        self.app.issue(ProjectId(id), &self.ada);
        self.app.confidential_issue(ProjectId(id), &self.ada);
        self.app.merge_request(ProjectId(id), &self.ada);
        self.projects.push(id);
        self.world.projects.push(Project { home, visibility });
        number
    }

    /// A level, mostly without an end; and the parameters that give it.
    fn given(&mut self, level: &str) -> (TimedLevel, Value) {
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

    async fn join(&mut self, place: &str, person: usize) -> Option<TimedLevel> {
        let (given, mut body) = self.given("access_level");
        body["user_id"] = json!(self.app.user(&self.people[person].username).id);
        self.is_done(place, body).await.then_some(given)
    }

    async fn share(&mut self, path: &str, invited: usize) -> Option<TimedLevel> {
        let (given, mut body) = self.given("group_access");
        body["group_id"] = json!(self.groups[invited]);
        self.is_done(path, body).await.then_some(given)
    }

    /// Locks a group and all below it, or opens it alone.
    async fn lock(&mut self, group: usize) {
        let locked = !self.world.groups[group].locked;
        let body = json!({ "share_with_group_lock": locked });
        self.ada.put(&format!("/groups/{}", self.groups[group]), body).await.ok();
        for at in 0..self.groups.len() {
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
