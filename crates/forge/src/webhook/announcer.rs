//! Writes down what is to be told, for each of those who want to hear it, in the transaction that made it true.

use std::sync::Arc;

use admin::{
    delivery::{DeliveryQueue as _, NewEvent, Receiver, SYSTEM_HEADER},
    flags::Flag,
};
use db::Tx;
use kernel::{Result, ids::ProjectId};
use secrets::Vault;
use serde_json::Value;
use tokio::sync::Notify;

use super::{audience::Audience, gaps::Gaps, payload::ProjectContext};
use crate::{integration::EventTraits, urls::Urls};

/// The context of announcing events.
#[derive(Clone, Debug)]
pub(crate) struct Announcer {
    pub(crate) urls: Urls,
    pub(crate) vault: Arc<Vault>,
    /// Wakes whoever sends.
    pub(crate) wake: Arc<Notify>,
}

impl Announcer {
    pub(crate) fn new(urls: &Urls, vault: &Arc<Vault>, wake: &Arc<Notify>) -> Self {
        Self { urls: urls.clone(), vault: Arc::clone(vault), wake: Arc::clone(wake) }
    }
}

/// One thing to tell, and where it happened.
#[derive(Debug)]
pub(super) struct News {
    pub(super) flag: Flag,
    pub(super) header: &'static str,
    pub(super) project: Option<ProjectId>,
    pub(super) object: String,
    pub(super) payload: Value,
    pub(super) gaps: Option<Gaps>,
}

impl Announcer {
    /// Tells webhooks and integrations.
    pub(super) fn tell(
        &self,
        tx: &mut Tx<'_>,
        audience: &Audience,
        news: News,
        occasion: &EventTraits<'_>,
    ) -> Result<()> {
        let receivers = audience.receivers(news.flag, occasion);
        self.announce(tx, [news], &receivers)
    }

    /// Tells system hooks: those with the flag, or all of them.
    pub(super) fn tell_system(
        &self,
        tx: &mut Tx<'_>,
        audience: &Audience,
        news: News,
        flag: Option<Flag>,
    ) -> Result<()> {
        let receivers = audience.system(flag);
        self.announce(tx, [News { header: SYSTEM_HEADER, ..news }], &receivers)
    }

    /// Tells these receivers of each of some things, by a few statements however many they are.
    pub(super) fn announce(
        &self,
        tx: &mut Tx<'_>,
        news: impl IntoIterator<Item = News>,
        receivers: &[Receiver],
    ) -> Result<()> {
        if receivers.is_empty() {
            return Ok(());
        }
        let events = news.into_iter().map(event).collect::<Result<Vec<_>>>()?;
        if events.is_empty() {
            return Ok(());
        }
        tx.announce_all(&events, receivers)?;
        let wake = Arc::clone(&self.wake);
        tx.after_commit(move || wake.notify_one());
        Ok(())
    }

    /// The project, and who is told of it; nothing where nobody is told of any such event.
    pub(super) fn place(
        &self,
        tx: &mut Tx<'_>,
        project: ProjectId,
        flags: &[Flag],
    ) -> Result<Option<(ProjectContext, Audience)>> {
        let mut audience = Audience::of_project(tx, project)?;
        if !flags.iter().any(|flag| audience.hears(*flag)) {
            return Ok(None);
        }
        let Some(project) = audience.project.take() else { return Ok(None) };
        Ok(Some((ProjectContext::of(tx, &self.urls, project)?, audience)))
    }
}

fn event(news: News) -> Result<NewEvent> {
    Ok(NewEvent {
        trigger: news.flag,
        header: news.header,
        project: news.project,
        object: news.object,
        payload: news.payload.to_string(),
        gaps: news.gaps.map(|gaps| gaps.to_text()).transpose()?,
    })
}

/// A payload without an event of its own.
pub(super) fn plain(header: &'static str, flag: Flag, object: String, payload: Value) -> News {
    News { flag, header, project: None, object, payload, gaps: None }
}
