//! The options of a job: what its copies share is made once.

use std::sync::Arc;

use super::{SelectedJob, Selection};
use crate::config::{
    Refusal, StepFailure, digest,
    entry::{CacheEntry, JobEntry, KeyFiles},
    options::{Cache, Options},
};

impl Selection<'_, '_> {
    pub(super) fn options(&mut self, picked: &SelectedJob<'_>) -> Result<Arc<Options>, Refusal> {
        let entry = &picked.job.entry;
        let rule_start = picked.rule.and_then(|rule| rule.start_in.clone());
        let rule_allows = picked.rule.is_some_and(|rule| rule.allow_failure.is_some());
        let shared = match self.options.get(&Arc::as_ptr(entry)) {
            Some(options) => Arc::clone(options),
            None => {
                let options = self.base_options(picked)?;
                self.options.insert(Arc::as_ptr(entry), Arc::clone(&options));
                options
            }
        };
        let unchanged = rule_start.is_none()
            && !(rule_allows && shared.allow_failure_criteria.is_some())
            && picked.caches.is_none();
        if unchanged {
            return Ok(shared);
        }
        let mut own = Options::clone(&shared);
        own.start_in = rule_start.or(own.start_in);
        own.cache = picked.caches.clone().or(own.cache);
        if rule_allows {
            own.allow_failure_criteria = None;
        }
        Ok(Arc::new(own))
    }

    /// The options that all copies of a job have.
    fn base_options(&self, picked: &SelectedJob<'_>) -> Result<Arc<Options>, Refusal> {
        let entry = &picked.job.entry;
        let mut options = Arc::clone(&entry.options);
        let dependencies = picked.job.dependencies.as_deref();
        if dependencies != options.dependencies.as_deref() {
            Arc::make_mut(&mut options).dependencies = dependencies.map(<[String]>::to_vec);
        }
        if let Some(caches) = &entry.unkeyed_caches {
            let keyed = caches.iter().map(|cache| self.keyed(cache, &String::clone));
            Arc::make_mut(&mut options).cache = Some(keyed.collect::<Result<_, StepFailure>>()?);
        }
        Ok(options)
    }

    /// The caches of a job with variables in the prefixes of their keys, which differ from copy to copy.
    pub(super) fn caches_of_variables(
        &self,
        entry: &JobEntry,
        expanded: &dyn Fn(&String) -> String,
    ) -> Result<Option<Vec<Cache>>, StepFailure> {
        let Some(caches) = &entry.unkeyed_caches else { return Ok(None) };
        let mut prefixes =
            caches.iter().filter_map(|cache| cache.key_files.as_ref()?.prefix.as_ref());
        if !prefixes.any(|prefix| prefix.contains(['$', '%'])) {
            return Ok(None);
        }
        caches.iter().map(|cache| self.keyed(cache, expanded)).collect::<Result<_, _>>().map(Some)
    }

    fn keyed(
        &self,
        entry: &CacheEntry,
        expanded: &dyn Fn(&String) -> String,
    ) -> Result<Cache, StepFailure> {
        let cache = entry.cache.clone();
        let Some(KeyFiles { files, prefix }) = &entry.key_files else { return Ok(cache) };
        let state = self.state_of(files)?;
        let key = match prefix.as_ref().map(expanded) {
            Some(prefix) if !prefix.is_empty() => format!("{prefix}-{state}"),
            _ => state,
        };
        Ok(Cache { key, ..cache })
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
