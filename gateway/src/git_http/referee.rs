//! Answers the hooks of a push: what may move, ref by ref, and the moves themselves.

use std::path::PathBuf;

use kernel::{Actor, Error, Result, Standing, access::Project, head::Growth, ids::ProjectId};
use org::access::{IdOrPath, locate_project};
use repo::{
    git::{
        Oid, RefName,
        hook::{Answer, Moment, Question, RefCommand, Referee, Report},
        refs,
    },
    push::{self, Incoming, Parts, Push, Via},
};

use super::{
    judgement::{Judgement, Named, PREFIX, Refused},
    merge_request_options,
    permit::Kind,
    pushes::{Progress, Underway},
    wiki_referee::WikiTarget,
};
use crate::{app::App, identity::Purpose};

pub(super) struct Gate {
    app: App,
}

/// The project that is pushed to, and who pushes.
#[derive(Clone, Copy)]
struct Target {
    project: ProjectId,
    actor: Actor,
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
            Ok(answer) => answer,
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
    ) -> Result<Answer, Refused> {
        if progress.over {
            return Err(Refused::one("This push is over."));
        }
        let Question { moment, quarantine, commands, .. } = question;
        if moment == Moment::Received {
            progress.judgement = Judgement::of(&underway.head, &commands);
        }
        let target = match underway.kind {
            Kind::Code(project) => Target { project, actor: underway.actor },
            Kind::Wiki(wiki) => {
                let target = WikiTarget { app: &self.app, wiki, actor: underway.actor };
                return match moment {
                    Moment::Received => target.received(progress, quarantine).await,
                    Moment::Settled => target.settled(progress, &commands).await,
                };
            }
        };
        match moment {
            Moment::Received => self.received(target, progress, quarantine).await,
            Moment::Settled => self.settled(target, underway, progress, &commands).await,
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
    ) -> Result<Answer, Refused> {
        let judgement = &mut progress.judgement;
        judgement.ensure_something_is_left()?;
        let app = &self.app;
        let repo = app.storage.repository(target.project);
        let incoming = Incoming::new(&app.git, &repo, quarantine.as_deref())?;
        ensure_small(app, &incoming).await?;
        let (project, who) = self.standing(target).await?;
        let named = judgement.take_named();
        let tips = tips(&named);
        let head = match project.0.default_branch {
            Some(_) => None,
            None => self.future_head(target, &tips).await?,
        };
        let base = self.base(target, &project, head.as_ref(), &tips).await?;
        // The first branch of all is measured from nothing.
        let from = |name: &RefName| base.filter(|_| head.as_ref() != Some(name));
        let changes = judgement.keep_possible(incoming.changes(named, from).await?);
        let push = Push::new(project.0, who, Via::Git, changes).with_lent(&app.lending);
        let together = judgement.is_atomic;
        let parts = push::examine_apart(&app.db, &app.people, &incoming, &push, together).await;
        judgement.note(parts);
        judgement.ensure_something_is_left()?;
        progress.head = head;
        progress.folders = incoming.folders().await?;
        Ok(Answer::Yes)
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

    /// Moves the refs, as every write of the API does.
    async fn settled(
        &self,
        target: Target,
        underway: &Underway,
        progress: &mut Progress,
        commands: &[RefCommand],
    ) -> Result<Answer, Refused> {
        let changes = progress.judgement.allowed(commands);
        sync(std::mem::take(&mut progress.folders)).await?;
        let (project, who) = self.standing(target).await?;
        let is_first = project.0.default_branch.is_none();
        let push = Push::new(project.0, who, Via::Git, changes);
        let mut push = push.with_lent(&self.app.lending);
        let arrives = |head: &RefName| push.changes.iter().any(|change| change.name == *head);
        push.becomes_default = progress.head.clone().filter(|head| is_first && arrives(head));
        if let Some(branch) = &push.becomes_default {
            self.point_head(target, branch).await?;
        }
        let size = self.app.git_read(target.project, |reader| Ok(reader.disk_size()?)).await?;
        push.growth = Growth::To(i64::try_from(size).unwrap_or(i64::MAX));
        let parts = push::land_apart(self.app.writer(), &push, progress.judgement.is_atomic).await;
        progress.brought_something |= !parts.accepted.is_empty();
        let mut lines = progress.judgement.lines(&parts);
        let Parts { accepted, .. } = &parts;
        lines.extend(
            merge_request_options::follow(
                &self.app,
                (target.project, target.actor),
                &underway.head.options,
                accepted,
            )
            .await,
        );
        let refs = progress.judgement.statuses(commands, &parts);
        Ok(Answer::Report(Report { refs, lines }))
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
