//! Answers the hooks of a push: what may move, and when it has.

use std::path::PathBuf;

use kernel::{Actor, Error, Result, Standing, access::Project, head::Growth, ids::ProjectId};
use org::access::{IdOrPath, locate_project};
use repo::{
    git::{
        Oid, RefName,
        hook::{Answer, Asked, Moment, Question, Referee},
        refs,
    },
    push::{self, Incoming, Push, RefChange, Via, incoming::pushable},
};

use super::{
    permit::Kind,
    pushes::{Progress, Underway},
    wiki_referee::WikiTarget,
};
use crate::{app::App, identity::Purpose};

/// Before every sentence of a refusal, as clients know it.
const PREFIX: &str = "GitLab: ";

pub(super) struct Gate {
    app: App,
}

/// The project that is pushed to, and who pushes.
#[derive(Clone, Copy)]
struct Target {
    project: ProjectId,
    actor: Actor,
}

/// Why a push ends: sentences for the pusher.
pub(super) struct Refused(pub(super) Vec<String>);

impl Refused {
    pub(super) fn one(text: impl Into<String>) -> Self {
        Self(vec![text.into()])
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::one(match error {
            Error::Rejected(text) | Error::Refused(text) => text,
            Error::Forbidden => "You are not allowed to push to this project.".to_owned(),
            Error::NotFound(_) => "There is no such project, or you may not see it.".to_owned(),
            other => {
                tracing::error!(error = %other, details = ?other, "a push could not be decided");
                "Something failed in the server. Please try again.".to_owned()
            }
        })
    }
}

impl From<repo::git::GitError> for Refused {
    fn from(error: repo::git::GitError) -> Self {
        Error::from(error).into()
    }
}

impl Referee for Gate {
    async fn judge(&self, question: Question) -> Answer {
        let now = self.app.db.clock().now();
        let identity = self.app.identity.verify(&question.identity, Purpose::Hook, now).ok();
        let found = identity.and_then(|identity| {
            let underway = self.app.transport.pushes.find(&identity.push?)?;
            let same =
                underway.kind.project() == identity.project && underway.user == identity.user;
            same.then_some(underway)
        });
        let Some(underway) = found else {
            return Answer::No(vec!["This push is over.".to_owned()]);
        };
        let mut progress = underway.progress.lock().await;
        match self.decide(&underway, &mut progress, question).await {
            Ok(()) => Answer::Yes,
            Err(Refused(texts)) => {
                Answer::No(texts.into_iter().map(|text| format!("{PREFIX}{text}")).collect())
            }
        }
    }
}

impl Gate {
    pub(super) fn new(app: App) -> Self {
        Self { app }
    }

    async fn decide(
        &self,
        underway: &Underway,
        progress: &mut Progress,
        question: Question,
    ) -> Result<(), Refused> {
        // Git also tells of HEAD when the branch moves that it names.
        let own = |asked: &Asked| asked.name.starts_with(b"refs/") && asked.old != asked.new;
        let asked: Vec<Asked> = match question.moment {
            Moment::Received => question.asked,
            _ => question.asked.into_iter().filter(own).collect(),
        };
        if progress.over {
            return Err(Refused::one("This push is over."));
        }
        let target = match underway.kind {
            Kind::Code(project) => Target { project, actor: underway.actor },
            Kind::Wiki(wiki) => {
                let target = WikiTarget { app: &self.app, wiki, actor: underway.actor };
                return target.decide(progress, question.moment, question.quarantine, asked).await;
            }
        };
        match question.moment {
            Moment::Received => self.received(target, progress, question.quarantine, asked).await,
            _ if asked.is_empty() => Ok(()),
            Moment::Prepared => self.prepared(target, progress, &asked).await,
            Moment::Committed => self.committed(target, progress, &asked).await,
            // A decision stands: it is carried out when git has ended.
            Moment::Aborted => Ok(()),
        }
    }

    async fn standing(&self, target: Target) -> Result<(Project, Standing)> {
        let (actor, id) = (target.actor, IdOrPath::Id(target.project.0));
        self.app.db.read(move |tx| locate_project(tx, actor, &id)).await
    }

    async fn received(
        &self,
        target: Target,
        progress: &mut Progress,
        quarantine: Option<PathBuf>,
        asked: Vec<Asked>,
    ) -> Result<(), Refused> {
        let named = named(asked)?;
        let app = &self.app;
        let repo = app.storage.repository(target.project);
        let incoming = Incoming::new(&app.git, &repo, quarantine.as_deref())?;
        ensure_small(app, &incoming).await?;
        let (project, who) = self.standing(target).await?;
        let tips = tips(&named);
        let head = match project.0.default_branch {
            Some(_) => None,
            None => self.future_head(target, &tips).await?,
        };
        let base = self.base(target, &project, head.as_ref(), &tips).await?;
        // The first branch of all is measured from nothing.
        let from = |name: &RefName| base.filter(|_| head.as_ref() != Some(name));
        let changes = incoming.changes(named, from).await?;
        let push = Push::new(project.0, who, Via::Git, changes.clone()).with_lent(&app.lending);
        push::examine(&app.db, &app.people, &incoming, &push).await?;
        progress.allowed = changes;
        progress.head = head;
        progress.folders = incoming.folders().await?;
        Ok(())
    }

    /// The branch that an empty repository will open with: the one HEAD names, or else whatever is usual.
    async fn future_head(
        &self,
        target: Target,
        tips: &[(RefName, Oid)],
    ) -> Result<Option<RefName>> {
        let named = self.app.git_read(target.project, |reader| Ok(reader.head_branch()?)).await?;
        Ok(first_branch(named, tips))
    }

    /// Where new branches are measured from.
    async fn base(
        &self,
        target: Target,
        project: &Project,
        head: Option<&RefName>,
        tips: &[(RefName, Oid)],
    ) -> Result<Option<Oid>> {
        let arriving = |name: &RefName| tips.iter().find(|(tip, _)| tip == name).map(|tip| tip.1);
        match &project.0.default_branch {
            None => Ok(head.and_then(arriving)),
            Some(branch) => {
                let Ok(name) = RefName::branch(branch) else { return Ok(None) };
                let read = self
                    .app
                    .git_read(target.project, move |reader| Ok(reader.find_reference(&name)?));
                Ok(read.await?.map(|found| found.target))
            }
        }
    }

    async fn prepared(
        &self,
        target: Target,
        progress: &mut Progress,
        asked: &[Asked],
    ) -> Result<(), Refused> {
        let changes: Option<Vec<RefChange>> =
            asked.iter().map(|asked| find(&progress.allowed, asked).cloned()).collect();
        let changes = changes.ok_or_else(|| Refused::one("This was not part of the push."))?;
        sync(std::mem::take(&mut progress.folders)).await?;
        let (project, who) = self.standing(target).await?;
        let first = project.0.default_branch.is_none();
        let push = Push::new(project.0, who, Via::Git, changes);
        let mut push = push.with_lent(&self.app.lending);
        push.becomes_default = progress
            .head
            .clone()
            .filter(|head| first && push.changes.iter().any(|change| change.name == *head));
        if let Some(branch) = &push.becomes_default {
            self.point_head(target, branch).await?;
        }
        self.look(&mut push).await?;
        push::decide(&self.app.db, &self.app.journal, push.clone()).await?;
        progress.decided.push(push);
        Ok(())
    }

    /// What the push makes of the project's record. Its objects have left quarantine by now.
    async fn look(&self, push: &mut Push) -> Result<()> {
        let app = &self.app;
        let size = app.git_read(push.project.id, |reader| Ok(reader.disk_size()?)).await?;
        push.growth = Growth::To(i64::try_from(size).unwrap_or(i64::MAX));
        push::head::look(&app.git, &app.repositories, &app.storage, push).await
    }

    /// Before the decision, so that a crash cannot leave HEAD behind it. Naming a branch that never comes does no harm.
    async fn point_head(&self, target: Target, branch: &RefName) -> Result<()> {
        let read = self.app.git_read(target.project, |reader| Ok(reader.head_branch()?));
        if read.await?.as_ref() != Some(branch) {
            let repo = self.app.storage.repository(target.project);
            refs::set_head(&repo, branch).await?;
        }
        Ok(())
    }

    async fn committed(
        &self,
        target: Target,
        progress: &mut Progress,
        asked: &[Asked],
    ) -> Result<(), Refused> {
        let same = |push: &Push| asked.iter().any(|asked| find(&push.changes, asked).is_some());
        let Some(place) = progress.decided.iter().position(same) else { return Ok(()) };
        let repo = self.app.storage.repository(target.project);
        refs::settle(&repo, &progress.decided[place].moves()).await?;
        let push = progress.decided.swap_remove(place);
        push::finish(&self.app.journal, push.batch.clone());
        push::follow(&self.app.aftermath, &push).await;
        Ok(())
    }
}

pub(super) async fn ensure_small(app: &App, incoming: &Incoming) -> Result<(), Refused> {
    let limit = app.limits.object;
    if limit == 0 {
        return Ok(());
    }
    match incoming.oversized(limit).await? {
        None => Ok(()),
        Some((id, size)) => Err(Refused::one(format!(
            "The object {id} is {size} bytes large; up to {limit} bytes are allowed."
        ))),
    }
}

/// A ref with where it was and where it is to be.
pub(super) type Named = (RefName, Option<Oid>, Option<Oid>);

/// Checks the names of what arrives.
pub(super) fn named(asked: Vec<Asked>) -> Result<Vec<Named>, Refused> {
    let (mut named, mut refusals) = (Vec::new(), Vec::new());
    for asked in asked {
        match pushable(&asked) {
            Ok(name) => named.push((name, asked.old, asked.new)),
            Err(text) => refusals.push(text),
        }
    }
    if refusals.is_empty() { Ok(named) } else { Err(Refused(refusals)) }
}

/// The branch that `HEAD` names when it is among those that arrive, or else the most usual of these.
pub(super) fn first_branch(head: Option<RefName>, tips: &[(RefName, Oid)]) -> Option<RefName> {
    let branches = || tips.iter().map(|(name, _)| name).filter(|name| name.is_branch());
    let usual = |wanted: &str| branches().find(|name| name.short() == wanted);
    let chosen = head
        .and_then(|head| branches().find(|name| **name == head))
        .or_else(|| usual("main"))
        .or_else(|| usual("master"))
        .or_else(|| branches().next());
    chosen.cloned()
}

pub(super) fn tips(named: &[Named]) -> Vec<(RefName, Oid)> {
    named.iter().filter_map(|(name, _, new)| Some((name.clone(), (*new)?))).collect()
}

fn find<'a>(changes: &'a [RefChange], asked: &Asked) -> Option<&'a RefChange> {
    changes.iter().find(|change| {
        change.name.as_bstr() == asked.name && change.old == asked.old && change.new == asked.new
    })
}

/// Makes the names of arrived objects durable; git has synced their contents.
pub(super) async fn sync(folders: Vec<PathBuf>) -> Result<()> {
    let done = tokio::task::spawn_blocking(move || {
        folders.iter().try_for_each(|folder| match std::fs::File::open(folder) {
            // Its one object was there already.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            opened => opened?.sync_all(),
        })
    });
    done.await.map_err(Error::internal)?.map_err(Error::internal)
}
