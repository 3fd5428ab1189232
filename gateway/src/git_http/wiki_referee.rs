//! Answers the hooks of a push to a wiki: no branch of it is protected, and no rule looks at its commits.

use std::path::PathBuf;

use kernel::{Actor, Error, Result};
use repo::{
    Event,
    git::{
        RefName, Wiki,
        hook::{Asked, Moment},
        refs::{self, Expect, RefMove},
    },
    push::Incoming,
    wiki::{
        changes::{self, PageChange},
        journal::WikiJournal,
    },
};

use super::{
    pushes::Progress,
    referee::{Named, Refused, ensure_small, first_branch, named, sync, tips},
    refusal::{MAY_NOT_PUSH_TO_WIKI, NO_WIKI},
    wiki,
};
use crate::{
    app::App,
    compose::wiki_repositories::{follow, promise},
};

/// The wiki that is pushed to, and who pushes.
pub(super) struct WikiTarget<'a> {
    pub(super) app: &'a App,
    pub(super) wiki: Wiki,
    pub(super) actor: Actor,
}

impl WikiTarget<'_> {
    pub(super) async fn decide(
        &self,
        progress: &mut Progress,
        moment: Moment,
        quarantine: Option<PathBuf>,
        asked: Vec<Asked>,
    ) -> Result<(), Refused> {
        match moment {
            Moment::Received => self.received(progress, quarantine, asked).await,
            _ if asked.is_empty() => Ok(()),
            Moment::Prepared => self.prepared(progress, asked).await,
            Moment::Committed => self.committed(progress, asked).await,
            Moment::Aborted => Ok(()),
        }
    }

    async fn received(
        &self,
        progress: &mut Progress,
        quarantine: Option<PathBuf>,
        asked: Vec<Asked>,
    ) -> Result<(), Refused> {
        let named = named(asked)?;
        let repo = self.app.storage.wiki(self.wiki);
        let incoming = Incoming::new(&self.app.git, &repo, quarantine.as_deref())?;
        ensure_small(self.app, &incoming).await?;
        self.ensure_writes().await?;
        progress.head = match self.head().await? {
            (_, true) => None,
            (head, false) => first_branch(head, &tips(&named)),
        };
        progress.folders = incoming.folders().await?;
        Ok(())
    }

    /// Somebody may have lost the right while everything arrived.
    async fn ensure_writes(&self) -> Result<(), Refused> {
        let (actor, wiki) = (self.actor, self.wiki);
        match self.app.db.read(move |tx| wiki::standing(tx, actor, wiki)).await {
            Ok(who) if wiki::rights(wiki, &who).writes => Ok(()),
            Ok(_) => Err(Refused::one(MAY_NOT_PUSH_TO_WIKI)),
            Err(Error::NotFound(_)) => Err(Refused::one(NO_WIKI)),
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

    async fn prepared(&self, progress: &mut Progress, asked: Vec<Asked>) -> Result<(), Refused> {
        let named = named(asked)?;
        self.ensure_writes().await?;
        sync(std::mem::take(&mut progress.folders)).await?;
        let mut shown = self.head().await?.0;
        if let Some(branch) = &progress.head
            && shown.as_ref() != Some(branch)
        {
            refs::set_head(&self.app.storage.wiki(self.wiki), branch).await?;
            shown = Some(branch.clone());
        }
        let facts = self.facts(&named, shown.as_ref()).await?;
        let moves: Vec<RefMove> = named.into_iter().map(step).collect();
        let (wiki, decided) = (self.wiki, moves.clone());
        // Its commit is the decision: from then on the refs have moved.
        let written = self.app.db.write(move |tx| {
            tx.keep_wiki_moves(wiki, &moves)?;
            facts.into_iter().try_for_each(|fact| tx.emit(fact))?;
            promise(tx, wiki)
        });
        written.await?;
        progress.decided_for_wiki.extend(decided);
        Ok(())
    }

    /// What the push has done to each page. Pages are read from one branch, and only that one counts.
    async fn facts(&self, named: &[Named], shown: Option<&RefName>) -> Result<Vec<Event>> {
        let found = named.iter().find(|(name, ..)| Some(name) == shown);
        let (Some((_, old, new)), Some(user)) = (found, self.actor.id) else {
            return Ok(Vec::new());
        };
        let (old, new) = (*old, *new);
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

    async fn committed(&self, progress: &mut Progress, asked: Vec<Asked>) -> Result<(), Refused> {
        let moves: Vec<RefMove> = named(asked)?.into_iter().map(step).collect();
        refs::settle(&self.app.storage.wiki(self.wiki), &moves).await?;
        progress.decided_for_wiki.retain(|decided| !moves.contains(decided));
        Ok(follow(self.app, self.wiki, moves).await?)
    }
}

fn step((name, old, new): Named) -> RefMove {
    RefMove { name, old: Expect::from(old), new }
}
