//! The commits between two others, some at a time: there may be more than memory should hold.

use std::{fmt::Write as _, path::PathBuf};

use bytes::Bytes;
use entities::repo::commit::CommitEntity;
use futures_util::{Stream, stream::try_unfold};
use kernel::{Error, Result, ids::ProjectId};
use repo::git::{Oid, Reader, reader::OverlayReader};

use crate::app::App;

/// As many are in memory at once; fewer are answered as a whole.
pub(super) const AT_ONCE: usize = 1_000;

/// The repository from which commits are read.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) app: App,
    pub(super) project: ProjectId,
    /// The objects of the project that is compared with, where it is another one.
    pub(super) elsewhere: Option<PathBuf>,
    /// The address of the project's page.
    pub(super) url: String,
}

impl Source {
    /// Reads what both projects have; nothing moves from one to the other.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Reader) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let elsewhere = self.elsewhere.clone();
        let read = self.app.git_read(self.project, move |reader| match &elsewhere {
            None => work(reader),
            Some(objects) => work(OverlayReader::beside(reader, &[objects.as_path()])?.reader()),
        });
        read.await
    }

    pub(super) async fn entities(&self, ids: Vec<Oid>) -> Result<Vec<CommitEntity>> {
        let url = self.url.clone();
        let read = self.read(move |reader| {
            let commits = reader.commits(&ids)?;
            Ok(commits.iter().map(|commit| CommitEntity::new(commit, &url)).collect())
        });
        read.await
    }

    /// The commits as the elements of a JSON array, between what comes before and behind them.
    pub(super) fn streamed(
        self,
        ids: std::sync::Arc<[Oid]>,
        around: (String, String),
    ) -> impl Stream<Item = Result<Bytes>> {
        let (before, after) = around;
        let progress = Progress { ids, next: 0, text: before, after };
        try_unfold(Some((self, progress)), |state| async move {
            let Some((source, mut progress)) = state else { return Ok(None) };
            let ids = progress.next_ids();
            let is_over = progress.next >= progress.ids.len();
            for (nth, commit) in source.entities(ids).await?.iter().enumerate() {
                let is_first = progress.next <= AT_ONCE && nth == 0;
                let comma = if is_first { "" } else { "," };
                let text = serde_json::to_string(commit).map_err(Error::internal)?;
                let _infallible = write!(progress.text, "{comma}{text}");
            }
            let mut text = std::mem::take(&mut progress.text);
            if is_over {
                text.push_str(&progress.after);
            }
            Ok(Some((Bytes::from(text), (!is_over).then_some((source, progress)))))
        })
    }
}

struct Progress {
    ids: std::sync::Arc<[Oid]>,
    next: usize,
    /// What has not been sent.
    text: String,
    after: String,
}

impl Progress {
    fn next_ids(&mut self) -> Vec<Oid> {
        let ids: Vec<Oid> = self.ids.iter().skip(self.next).take(AT_ONCE).copied().collect();
        self.next += ids.len();
        ids
    }
}
