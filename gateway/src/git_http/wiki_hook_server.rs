//! Answers the hooks of a push to a wiki: no branch of it is protected, and no rule looks at its commits.

use std::path::PathBuf;

use forge::wiki::{follow, promise};
use kernel::{Actor, Error, Result};
use repo::{
    Event,
    git::{
        GitError, RefName, Wiki,
        hook::{Answer, RefCommand, Report},
        refs::{self, RefMove},
    },
    push::{Incoming, Parts, RefChange, take_apart},
    wiki::{
        changes::{self, PageChange},
        journal::WikiJournal,
    },
};

use super::{
    git_error::{MAY_NOT_PUSH_TO_WIKI, NO_WIKI},
    hook_server::{ensure_small, first_branch, sync, tips},
    push_decision::PushRefusal,
    pushes::Progress,
    wiki,
};
use crate::app::App;

/// The wiki that is pushed to, and who pushes.
pub(super) struct WikiTarget<'a> {
    pub(super) app: &'a App,
    pub(super) wiki: Wiki,
    pub(super) actor: Actor,
}

impl WikiTarget<'_> {
    pub(super) async fn received(
        &self,
        progress: &mut Progress,
        quarantine: Option<PathBuf>,
    ) -> Result<Answer, PushRefusal> {
        progress.judgement.ensure_something_is_left()?;
        let repo = self.app.storage.wiki(self.wiki);
        let incoming = Incoming::new(&self.app.git, &repo, quarantine.as_deref())?;
        ensure_small(self.app, &incoming).await?;
        self.ensure_writes().await?;
        let named = progress.judgement.take_named();
        progress.head = match self.head().await? {
            (_, true) => None,
            (head, false) => first_branch(head, &tips(&named)),
        };
        let changes = incoming.changes(named, |_name| None).await?;
        let accepted = progress.judgement.keep_possible(changes);
        progress.judgement.note(Parts { accepted, refused: Vec::new() });
        progress.judgement.ensure_something_is_left()?;
        progress.folders = incoming.folders().await?;
        Ok(Answer::Yes)
    }

    /// Moves the refs; one that somebody else has moved keeps nothing else back, unless all were to move at once.
    pub(super) async fn settled(
        &self,
        progress: &mut Progress,
        commands: &[RefCommand],
    ) -> Result<Answer, PushRefusal> {
        let changes = progress.judgement.allowed(commands);
        self.ensure_writes().await?;
        sync(std::mem::take(&mut progress.folders)).await?;
        if let Some(branch) = &progress.head
            && self.head().await?.0.as_ref() != Some(branch)
        {
            refs::set_head(&self.app.storage.wiki(self.wiki), branch).await?;
        }
        let together = progress.judgement.is_atomic;
        let parts = take_apart(changes, together, |part| self.land(part)).await;
        let (refs, lines) =
            (progress.judgement.statuses(commands, &parts), progress.judgement.lines(&parts));
        Ok(Answer::Report(Report { refs, lines }))
    }

    /// A caller that goes away does not stop it half-way: hooks are answered by tasks of their own.
    async fn land(&self, changes: Vec<RefChange>) -> Result<()> {
        let shown = self.head().await?.0;
        let facts = self.facts(&changes, shown.as_ref()).await?;
        let moves: Vec<RefMove> = changes.iter().map(RefChange::as_move).collect();
        let repo = self.app.storage.wiki(self.wiki);
        let prepared = match refs::prepare(&repo, &moves).await {
            Err(GitError::Stale { .. } | GitError::RefNameTaken) => {
                let text = "Somebody else has changed this ref. Please fetch and try again.";
                return Err(Error::bad_request().whole(text.to_owned()));
            }
            prepared => prepared?,
        };
        let (wiki, decided) = (self.wiki, moves.clone());
        // Its commit is the decision: from then on the refs have moved.
        let written = self.app.db.write(move |tx| {
            tx.save_wiki_moves(wiki, &decided)?;
            facts.into_iter().try_for_each(|fact| tx.emit(fact))?;
            promise(tx, wiki)
        });
        if let Err(refusal) = written.await {
            if let Err(cause) = prepared.abort().await {
                tracing::warn!(error = %cause, "a refused push to a wiki was not given back cleanly");
            }
            return Err(refusal);
        }
        prepared.commit().await?;
        // The refs have moved, whatever becomes of the rest: that is promised, and done later.
        if let Err(cause) = follow(self.app, self.wiki, moves).await {
            tracing::warn!(error = %cause, "what follows from a push to a wiki is left for later");
        }
        Ok(())
    }

    /// Somebody may have lost the right while everything arrived.
    async fn ensure_writes(&self) -> Result<(), PushRefusal> {
        let (actor, wiki) = (self.actor, self.wiki);
        match self.app.db.read(move |tx| wiki::standing(tx, actor, wiki)).await {
            Ok(who) if wiki::rights(wiki, &who).writes => Ok(()),
            Ok(_) => Err(PushRefusal::one(MAY_NOT_PUSH_TO_WIKI)),
            Err(gone) if gone.is_gone() => Err(PushRefusal::one(NO_WIKI)),
            Err(other) => Err(other.into()),
        }
    }

    /// The branch that HEAD names, and whether it is there.
    async fn head(&self) -> Result<(Option<RefName>, bool)> {
        let read = self.app.git_read_at(self.app.storage.wiki(self.wiki), |reader| {
            let head = reader.head_branch()?;
            let found = match &head {
                Some(name) => reader.find_reference(name)?,
                None => None,
            };
            Ok((head, found.is_some()))
        });
        read.await
    }

    /// What the push has done to each page. Pages are read from one branch, and only that one counts.
    async fn facts(&self, changes: &[RefChange], shown: Option<&RefName>) -> Result<Vec<Event>> {
        let found = changes.iter().find(|change| Some(&change.name) == shown);
        let (Some(change), Some(user)) = (found, self.actor.id) else {
            return Ok(Vec::new());
        };
        let (old, new) = (change.old, change.new);
        let read = self.app.git_read_at(self.app.storage.wiki(self.wiki), move |reader| {
            changes::between(reader, old, new)
        });
        let (project, group) = match self.wiki {
            Wiki::Project(project) => (Some(project), None),
            Wiki::Group(group) => (None, Some(group)),
        };
        let commit = new.map(|id| id.to_string()).unwrap_or_default();
        let told = |PageChange { action, path }| Event::WikiChanged {
            project,
            group,
            user,
            action,
            path,
            commit: commit.clone(),
        };
        Ok(read.await?.into_iter().map(told).collect())
    }
}
