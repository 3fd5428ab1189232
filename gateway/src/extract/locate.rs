//! Finds the scope that a path names, and how the caller stands in it.

use db::Tx;
use forge::job_token;
use kernel::{
    Actor, Result, Standing,
    access::{Group, Instance, Project, Scope},
    ids::ProjectId,
};
use org::{
    access::{
        IdOrPath,
        entry::{self, Entry, GroupEntry, ProjectEntry},
        locate_group, locate_project,
    },
    token::{Secret, store::TokenStore},
};

pub trait Locate: Scope + Send {
    /// What is read of it together with a token.
    type Place: Send + 'static;

    /// `id` is the path's `{id}`, decoded; empty where the path has none.
    fn locate(tx: &mut Tx<'_>, actor: Actor, id: &str) -> Result<(Self, Standing)>;

    /// The project, where it is one.
    fn project(&self) -> Option<ProjectId> {
        None
    }

    /// As [`locate`](Self::locate), for a job of the project `from` that shows its token.
    fn locate_for_job(
        tx: &mut Tx<'_>,
        actor: Actor,
        from: ProjectId,
        id: &str,
    ) -> Result<(Self, Standing)>;

    /// The scope where nothing has to be looked up for it.
    fn without_rows(_: Actor) -> Option<(Self, Standing)> {
        None
    }

    /// A token, and what is read of the scope with it.
    fn enter(tx: &mut Tx<'_>, secret: &Secret, id: &str) -> Result<Option<Entry<Self::Place>>>;

    /// How the token's person stands there; nothing where it has to be located once more to be sure.
    fn stand(place: Self::Place, actor: Actor) -> Result<Option<(Self, Standing)>>;
}

impl Locate for Instance {
    type Place = ();

    fn locate(_: &mut Tx<'_>, actor: Actor, _: &str) -> Result<(Self, Standing)> {
        Ok((Instance, Standing::in_instance(actor)))
    }

    fn locate_for_job(
        tx: &mut Tx<'_>,
        actor: Actor,
        _: ProjectId,
        id: &str,
    ) -> Result<(Self, Standing)> {
        Self::locate(tx, actor, id)
    }

    fn without_rows(actor: Actor) -> Option<(Self, Standing)> {
        Some((Self, Standing::in_instance(actor)))
    }

    fn enter(tx: &mut Tx<'_>, secret: &Secret, _: &str) -> Result<Option<Entry<()>>> {
        let found = tx.find_token(secret)?;
        Ok(found.map(|(token, user)| Entry { token, user, place: None }))
    }

    fn stand((): (), actor: Actor) -> Result<Option<(Self, Standing)>> {
        Ok(Self::without_rows(actor))
    }
}

impl Locate for Project {
    type Place = ProjectEntry;

    fn project(&self) -> Option<ProjectId> {
        Some(self.0.id)
    }

    fn locate(tx: &mut Tx<'_>, actor: Actor, id: &str) -> Result<(Self, Standing)> {
        locate_project(tx, actor, &IdOrPath::parse(id))
    }

    fn locate_for_job(
        tx: &mut Tx<'_>,
        actor: Actor,
        from: ProjectId,
        id: &str,
    ) -> Result<(Self, Standing)> {
        job_token::locate_for_job(tx, actor, from, &IdOrPath::parse(id))
    }

    fn enter(tx: &mut Tx<'_>, secret: &Secret, id: &str) -> Result<Option<Entry<ProjectEntry>>> {
        entry::to_project(tx, secret, &IdOrPath::parse(id))
    }

    fn stand(place: ProjectEntry, actor: Actor) -> Result<Option<(Self, Standing)>> {
        place.stand(actor)
    }
}

impl Locate for Group {
    type Place = GroupEntry;

    fn locate(tx: &mut Tx<'_>, actor: Actor, id: &str) -> Result<(Self, Standing)> {
        locate_group(tx, actor, &IdOrPath::parse(id))
    }

    /// Groups let in no job of anybody's.
    fn locate_for_job(
        tx: &mut Tx<'_>,
        actor: Actor,
        _: ProjectId,
        id: &str,
    ) -> Result<(Self, Standing)> {
        Self::locate(tx, Actor::ANONYMOUS.at(actor.address), id)
    }

    fn enter(tx: &mut Tx<'_>, secret: &Secret, id: &str) -> Result<Option<Entry<GroupEntry>>> {
        entry::to_group(tx, secret, &IdOrPath::parse(id))
    }

    fn stand(place: GroupEntry, actor: Actor) -> Result<Option<(Self, Standing)>> {
        Ok(place.stand(actor))
    }
}
