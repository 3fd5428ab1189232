//! Answers the hooks of a push to a wiki: no branch of it is protected, and no rule looks at its commits.

use std::path::PathBuf;

use kernel::{Actor, Error, Result};
use repo::{
    git::{
        RefName, Wiki,
        hook::{Asked, Moment},
        refs::{self, Expect, RefMove},
    },
    push::Incoming,
};

use super::{
    pushes::Progress,
    referee::{Refused, ensure_small, first_branch, named, sync, tips},
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
            Moment::Prepared => self.prepared(progress).await,
            Moment::Committed => self.committed(asked).await,
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

    async fn prepared(&self, progress: &mut Progress) -> Result<(), Refused> {
        self.ensure_writes().await?;
        sync(std::mem::take(&mut progress.folders)).await?;
        if let Some(branch) = &progress.head
            && self.head().await?.0.as_ref() != Some(branch)
        {
            refs::set_head(&self.app.storage.wiki(self.wiki), branch).await?;
        }
        // Before the refs move, so that a crash cannot leave the figures behind them.
        Ok(promise(self.app, self.wiki).await?)
    }

    async fn committed(&self, asked: Vec<Asked>) -> Result<(), Refused> {
        let step = |(name, old, new)| RefMove { name, old: Expect::from(old), new };
        let moves: Vec<RefMove> = named(asked)?.into_iter().map(step).collect();
        refs::settle(&self.app.storage.wiki(self.wiki), &moves).await?;
        Ok(follow(self.app, self.wiki).await?)
    }
}
