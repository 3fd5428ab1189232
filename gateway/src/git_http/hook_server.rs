//! Answers the hooks of a push: what may move, ref by ref, and the moves themselves.

use std::{collections::HashSet, path::PathBuf};

use forge::{
    merge_request::push_options, pipeline::refused_push_options, signed_statements::Purpose,
};
use kernel::{Actor, Error, Result, Standing, access::Project, head::Growth, ids::ProjectId};
use org::access::{IdOrPath, locate_project};
use repo::{
    git::{
        Oid, RefName,
        hook::{Answer, HookRequest, Moment, RefCommand, Referee, Report},
        refs,
    },
    push::{self, Incoming, Parts, Push, PushSource},
};

use super::{
    kind::Kind,
    push_decision::{DECLINED, Judgement, PushRefusal, RefUpdate},
    pushes::{ActivePush, Progress},
    wiki_hook_server::WikiTarget,
};
use crate::app::App;

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
    async fn judge(&self, question: HookRequest) -> Answer {
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
            Err(refused) => Answer::No(refused.lines()),
        }
    }
}

impl Gate {
    pub(super) fn new(app: App) -> Self {
        Self { app }
    }

    async fn decide(
        &self,
        underway: &ActivePush,
        progress: &mut Progress,
        question: HookRequest,
    ) -> Result<Answer, PushRefusal> {
        if progress.over {
            return Err(PushRefusal::one("This push is over."));
        }
        let HookRequest { moment, quarantine, commands, .. } = question;
        if moment == Moment::Received {
            progress.judgement = Judgement::of(&underway.head, &commands);
            return self.received(underway, progress, quarantine).await;
        }
        if !underway.head.brings_objects {
            // Nothing was in quarantine, so nobody has asked before.
            let head = underway.head.commands.iter().map(|command| (&command.name, command.new));
            let announced: HashSet<_> = head.collect();
            if commands.iter().any(|one| !announced.contains(&(&one.name, one.new))) {
                return Err(PushRefusal::one("The push is not what it began with."));
            }
            progress.judgement = Judgement::of(&underway.head, &commands);
            if let Err(refused) = self.received(underway, progress, None).await {
                let report = Report::refusing(&commands, DECLINED, refused.lines());
                return Ok(Answer::Report(report));
            }
        }
        self.settled(underway, progress, &commands).await
    }

    async fn received(
        &self,
        underway: &ActivePush,
        progress: &mut Progress,
        quarantine: Option<PathBuf>,
    ) -> Result<Answer, PushRefusal> {
        let actor = underway.actor;
        match underway.kind {
            Kind::Code(project) => {
                self.code_received(Target { project, actor }, progress, quarantine).await
            }
            Kind::Wiki(wiki) => {
                let target = WikiTarget { app: &self.app, wiki, actor };
                target.received(progress, quarantine).await
            }
        }
    }

    async fn settled(
        &self,
        underway: &ActivePush,
        progress: &mut Progress,
        commands: &[RefCommand],
    ) -> Result<Answer, PushRefusal> {
        let actor = underway.actor;
        match underway.kind {
            Kind::Code(project) => {
                self.code_settled(Target { project, actor }, underway, progress, commands).await
            }
            Kind::Wiki(wiki) => {
                let target = WikiTarget { app: &self.app, wiki, actor };
                target.settled(progress, commands).await
            }
        }
    }

    async fn standing(&self, target: Target) -> Result<(Project, Standing)> {
        let (actor, id) = (target.actor, IdOrPath::Id(target.project.0));
        self.app.db.read(move |tx| locate_project(tx, actor, &id)).await
    }

    async fn code_received(
        &self,
        target: Target,
        progress: &mut Progress,
        quarantine: Option<PathBuf>,
    ) -> Result<Answer, PushRefusal> {
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
        let push = Push::new(project.0, who, PushSource::Git, changes)
            .with_fork_push_access(&app.fork_push_access);
        let together = judgement.is_atomic;
        let parts =
            push::check_push_rule_by_ref(&app.db, &app.people, &incoming, &push, together).await;
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
    async fn code_settled(
        &self,
        target: Target,
        underway: &ActivePush,
        progress: &mut Progress,
        commands: &[RefCommand],
    ) -> Result<Answer, PushRefusal> {
        let changes = progress.judgement.allowed(commands);
        sync(std::mem::take(&mut progress.folders)).await?;
        let (project, who) = self.standing(target).await?;
        let is_first = project.0.default_branch.is_none();
        let push = Push::new(project.0, who, PushSource::Git, changes);
        let push = push.with_fork_push_access(&self.app.fork_push_access);
        let mut push = push.with_options(underway.head.options.clone());
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
        if !accepted.is_empty() {
            lines.extend(self.pipeline_refusal(target, who, &underway.head.options).await);
        }
        lines.extend(
            push_options::apply(
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

    /// Why the options of a push that was accepted make no pipeline.
    async fn pipeline_refusal(
        &self,
        target: Target,
        who: Standing,
        options: &[String],
    ) -> Option<String> {
        let told = refused_push_options(&self.app, who, target.project, options).await;
        match told {
            Ok(told) => told.map(|text| format!("No pipeline: {text}")),
            Err(failure) => {
                tracing::warn!(error = %failure, "the options of a push could not be checked");
                None
            }
        }
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

pub(super) async fn ensure_small(app: &App, incoming: &Incoming) -> Result<(), PushRefusal> {
    let limit = app.limits.object;
    if limit == 0 {
        return Ok(());
    }
    match incoming.oversized(limit).await? {
        None => Ok(()),
        Some((id, size)) => Err(PushRefusal::one(format!(
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

pub(super) fn tips(named: &[RefUpdate]) -> Vec<(RefName, Oid)> {
    named.iter().filter_map(|(name, _, new)| Some((name.clone(), (*new)?))).collect()
}

/// Makes the names of arrived objects durable; git has synced their contents.
pub(super) async fn sync(folders: Vec<PathBuf>) -> Result<()> {
    let done = kernel::task::spawn_blocking(move || {
        folders.iter().try_for_each(|folder| match std::fs::File::open(folder) {
            // Its one object was there already.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            opened => opened?.sync_all(),
        })
    });
    done.await.map_err(Error::internal)?.map_err(Error::internal)
}
