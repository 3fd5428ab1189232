//! A group with two projects and a user of each role; and a fake of everything around issues and merge requests.

mod around;

use std::sync::Arc;

use db::{
    Tx,
    testing::{facts, rows, transaction},
};
use forgeway_review::{
    issue::{self, Issue, actions::NewIssue},
    item::reading::ReadItemsGrant,
    note::{
        Note,
        actions::{NewNote, NoteTarget, create as say},
        reading::{Activity, NoteQuery, OrderBy, list},
    },
    policy::{CreateIssues, ReadIssueNotes},
};
use kernel::{
    Ability, AccessLevel, Actor, Grant, Result, Standing,
    access::{Group, Project},
    ids::{NamespaceId, ProjectId, UserId},
    page::PageRequest,
};

pub(crate) use around::FakeDirectory;

pub(crate) struct World {
    pub(crate) owner: UserId,
    pub(crate) reporter: UserId,
    pub(crate) guest: UserId,
    /// Has no role anywhere.
    pub(crate) stranger: UserId,
    pub(crate) group: NamespaceId,
    /// Both are in the group.
    pub(crate) project: ProjectId,
    pub(crate) other: ProjectId,
    pub(crate) around: FakeDirectory,
}

/// Runs a test in one transaction of a database of its own.
pub(crate) fn test(body: fn(&mut Tx<'_>, &World) -> Result<()>) {
    transaction(move |tx| {
        let world = World::new(tx)?;
        body(tx, &world)
    });
}

impl World {
    fn new(tx: &mut Tx<'_>) -> Result<Self> {
        let owner = rows::user(tx, "owner")?;
        let reporter = rows::user(tx, "reporter")?;
        let guest = rows::user(tx, "guest")?;
        let stranger = rows::user(tx, "stranger")?;
        let group = rows::group(tx, "group")?;
        let project = rows::project(tx, group, owner, "project")?;
        let other = rows::project(tx, group, owner, "other")?;
        let people = vec![
            (owner, "owner", AccessLevel::Owner),
            (reporter, "reporter", AccessLevel::Reporter),
            (guest, "guest", AccessLevel::Guest),
            (stranger, "stranger", AccessLevel::NoAccess),
        ];
        let around = FakeDirectory { people, groups: vec![group], projects: vec![project, other] };
        Ok(Self { owner, reporter, guest, stranger, group, project, other, around })
    }

    /// The same, with both projects outside of any group.
    pub(crate) fn without_group(&self) -> FakeDirectory {
        FakeDirectory { groups: Vec::new(), ..self.around.clone() }
    }

    /// How somebody stands in the projects and the group.
    pub(crate) fn standing(&self, user: UserId) -> Standing {
        self.around.standing(user)
    }

    pub(crate) fn actor(user: UserId) -> Actor {
        Actor { id: Some(user), ..Actor::ANONYMOUS }
    }

    /// What somebody may do in a project.
    pub(crate) fn may_in<A>(&self, project: ProjectId, user: UserId) -> Result<Grant<A>>
    where
        A: Ability<Scope = Project>,
    {
        Grant::check(&self.standing(user), Project(Arc::new(facts::project(project, self.group))))
    }

    /// What somebody may do in the first project.
    pub(crate) fn may<A: Ability<Scope = Project>>(&self, user: UserId) -> Result<Grant<A>> {
        self.may_in(self.project, user)
    }

    /// What somebody may do in the group.
    pub(crate) fn may_in_group<A: Ability<Scope = Group>>(&self, user: UserId) -> Result<Grant<A>> {
        Grant::check(&self.standing(user), Group(Arc::new(facts::group(self.group))))
    }

    /// An issue of the first project.
    pub(crate) fn issue(&self, tx: &mut Tx<'_>, by: UserId, new: NewIssue) -> Result<Issue> {
        self.issue_in(tx, self.project, by, new)
    }

    pub(crate) fn issue_in(
        &self,
        tx: &mut Tx<'_>,
        project: ProjectId,
        by: UserId,
        new: NewIssue,
    ) -> Result<Issue> {
        let grant = self.may_in::<CreateIssues>(project, by)?;
        issue::actions::create(tx, &grant, &self.around, new)
    }

    /// Somebody says something about an issue of the first project.
    pub(crate) fn say(
        &self,
        tx: &mut Tx<'_>,
        by: UserId,
        iid: i64,
        note: &NewNote,
    ) -> Result<Option<Note>> {
        let grant = self.may::<CreateIssues>(by)?;
        Ok(say(tx, &grant, &self.around, iid, note)?.note)
    }

    /// All that somebody reads among the notes of an issue of the first project, oldest first.
    pub(crate) fn notes(
        &self,
        tx: &mut Tx<'_>,
        reader: UserId,
        iid: i64,
        activity: Activity,
    ) -> Result<Vec<String>> {
        let grant = self.may::<ReadIssueNotes>(reader)?;
        self.notes_for(tx, &grant, iid, activity)
    }

    pub(crate) fn notes_for<G: ReadItemsGrant>(
        &self,
        tx: &mut Tx<'_>,
        grant: &G,
        iid: i64,
        activity: Activity,
    ) -> Result<Vec<String>> {
        let listed = NoteQuery { activity, order_by: OrderBy::CreatedAt, newest_first: false };
        let (_, page) = list(tx, grant, &self.around, iid, listed, PageRequest::default())?;
        Ok(page.items.into_iter().map(|note| note.body).collect())
    }
}

/// An issue with this title and nothing else.
pub(crate) fn titled(title: &str) -> NewIssue {
    NewIssue { title: title.to_owned(), ..NewIssue::default() }
}

/// A plain comment.
pub(crate) fn comment(body: &str) -> NewNote {
    NewNote { body: body.to_owned(), internal: false, created_at: None, place: NoteTarget::Alone }
}
