//! The options of a job: what its copies share is made once.

use std::sync::Arc;

use super::{SelectedJob, Selection};
use crate::config::{
    Refusal, StepFailure, digest,
    entry::{CacheEntry, CacheKey},
    options::{self, Options},
};

impl Selection<'_, '_> {
    pub(super) fn options(&mut self, picked: &SelectedJob<'_>) -> Result<Arc<Options>, Refusal> {
        let entry = &picked.job.entry;
        let rule_start = picked.rule.and_then(|rule| rule.start_in.clone());
        let rule_allows = picked.rule.is_some_and(|rule| rule.allow_failure.is_some());
        let shared = match self.options.get(&Arc::as_ptr(entry)) {
            Some(options) => Arc::clone(options),
            None => {
                let options = Arc::new(self.base_options(picked)?);
                self.options.insert(Arc::as_ptr(entry), Arc::clone(&options));
                options
            }
        };
        let unchanged = rule_start.is_none()
            && !(rule_allows && shared.allow_failure_criteria.is_some())
            && picked.job.instance.is_none();
        if unchanged {
            return Ok(shared);
        }
        let mut own = Options::clone(&shared);
        own.start_in = rule_start.or(own.start_in);
        own.instance = picked.job.instance;
        if rule_allows {
            own.allow_failure_criteria = None;
        }
        Ok(Arc::new(own))
    }

    /// The options that all copies of a job have.
    fn base_options(&self, picked: &SelectedJob<'_>) -> Result<Options, Refusal> {
        let entry = &picked.job.entry;
        let mut options = entry.options.clone();
        options.dependencies = picked.job.dependencies.as_ref().map(|names| names.to_vec());
        options.parallel.clone_from(&entry.parallel);
        let caches = entry.cache.as_ref().filter(|caches| !caches.is_empty());
        options.cache = match caches {
            Some(caches) => Some(
                caches.iter().map(|cache| self.cache(cache)).collect::<Result<_, StepFailure>>()?,
            ),
            None => None,
        };
        Ok(options)
    }

    fn cache(&self, cache: &CacheEntry) -> Result<options::Cache, StepFailure> {
        let key = match &cache.key {
            CacheKey::Text(text) => text.clone(),
            CacheKey::Files { files, prefix } => {
                let state = self.state_of(files)?;
                let prefix = prefix.as_deref().filter(|prefix| !prefix.is_empty());
                prefix.map_or_else(|| state.clone(), |prefix| format!("{prefix}-{state}"))
            }
        };
        Ok(options::Cache {
            key,
            paths: cache.paths.clone(),
            untracked: cache.untracked,
            policy: cache.policy.clone(),
            when: cache.when.clone(),
            unprotect: cache.unprotect,
            fallback_keys: cache.fallback_keys.clone(),
        })
    }

    /// A word that changes when one of the files does.
    fn state_of(&self, files: &[String]) -> Result<String, StepFailure> {
        let mut prints = Vec::new();
        for file in files {
            let path = file.trim_start_matches("./");
            prints.extend(self.given.tree.fingerprint(path).map_err(StepFailure::Fault)?);
        }
        if prints.is_empty() {
            return Ok("default".to_owned());
        }
        Ok(digest(&prints.join("-")))
    }
}
