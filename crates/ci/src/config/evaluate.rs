//! Evaluation of a rule: its condition, changed paths and existing files.

use std::{collections::HashMap, sync::Arc, time::Instant};

use super::{
    StepFailure,
    entry::{Changes, Exists, Rule},
    expression::{Expression, pattern::Patterns},
    glob::Globs,
    input::{PipelineInput, Project, Tree},
    variables::{UnknownVariable, View, expand},
};

/// Comparisons of a path with a pattern after which a file is taken to exist.
const MOST_COMPARISONS: usize = 50_000;
/// Answers that are remembered.
const MOST_REMEMBERED: usize = 1000;
/// Comparisons between two looks at the time.
const STEP: usize = 4096;

/// An evaluation with cached answers, since many jobs compare the same paths.
pub(super) struct Evaluation<'e> {
    given: &'e PipelineInput<'e>,
    tree: &'e dyn Tree,
    pub(super) patterns: &'e mut Patterns,
    globs: Globs,
    paths: Option<Arc<[String]>>,
    changed_since: HashMap<String, Option<Vec<String>>>,
    /// Patterns asked about what changed against the base, and the answer.
    asked: HashMap<Vec<String>, bool>,
    comparisons: usize,
}

impl<'e> Evaluation<'e> {
    pub(super) fn new(
        given: &'e PipelineInput<'_>,
        tree: &'e dyn Tree,
        patterns: &'e mut Patterns,
    ) -> Self {
        Self {
            given,
            tree,
            patterns,
            globs: Globs::default(),
            paths: None,
            changed_since: HashMap::new(),
            asked: HashMap::new(),
            comparisons: 0,
        }
    }

    /// The first rule that fits.
    pub(super) fn first<'r>(
        &mut self,
        rules: &'r [Rule],
        view: View<'_>,
    ) -> Result<Option<&'r Rule>, StepFailure> {
        for rule in rules {
            if self.fits(rule, view)? {
                return Ok(Some(rule));
            }
        }
        Ok(None)
    }

    /// Whether all clauses of a rule hold.
    fn fits(&mut self, rule: &Rule, view: View<'_>) -> Result<bool, StepFailure> {
        if let Some(condition) = &rule.condition
            && !self.holds(condition, view)
        {
            return Ok(false);
        }
        if let Some(changes) = &rule.changes
            && !self.has_changed(changes, view)?
        {
            return Ok(false);
        }
        rule.exists.as_ref().map_or(Ok(true), |exists| self.exists(exists, view))
    }

    pub(super) fn holds(&mut self, condition: &Expression, view: View<'_>) -> bool {
        condition.is_true(&|name| view.get(name), self.patterns)
    }

    /// Whether a path that changed fits. Without anything to compare with all have changed.
    pub(super) fn has_changed(
        &mut self,
        changes: &Changes,
        view: View<'_>,
    ) -> Result<bool, StepFailure> {
        let patterns = expanded(&changes.paths, view);
        let Some(reference) = &changes.compare_to else {
            return self.has_changed_since_base(patterns);
        };
        let reference =
            expand(reference, &|name| view.get(name), UnknownVariable::Vanishes).into_owned();
        if !self.changed_since.contains_key(&reference) {
            let paths = self.tree.changed_since(&reference).map_err(StepFailure::Fault)?;
            self.changed_since.insert(reference.clone(), paths);
        }
        let paths = self.changed_since.get(&reference).cloned().flatten();
        let invalid = "rules:changes:compare_to is not a valid ref";
        let paths = paths.ok_or_else(|| StepFailure::problem(invalid))?;
        self.any_fits(&patterns, &paths)
    }

    fn has_changed_since_base(&mut self, patterns: Vec<String>) -> Result<bool, StepFailure> {
        let Some(paths) = self.given.changes else { return Ok(true) };
        if let Some(answer) = self.asked.get(&patterns) {
            return Ok(*answer);
        }
        let answer = self.any_fits(&patterns, paths)?;
        if self.asked.len() < MOST_REMEMBERED {
            self.asked.insert(patterns, answer);
        }
        Ok(answer)
    }

    fn any_fits(&mut self, patterns: &[String], paths: &[String]) -> Result<bool, StepFailure> {
        for path in paths {
            for pattern in patterns {
                self.tick()?;
                if self.globs.matches(pattern, path) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Looks at the time now and then.
    fn tick(&mut self) -> Result<(), StepFailure> {
        self.comparisons += 1;
        let due = self.comparisons.is_multiple_of(STEP);
        if due && self.given.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            return Err(StepFailure::late());
        }
        Ok(())
    }

    fn exists(&mut self, exists: &Exists, view: View<'_>) -> Result<bool, StepFailure> {
        let patterns = expanded(&exists.paths, view);
        if patterns.is_empty() {
            return Ok(false);
        }
        let paths = match &exists.project {
            Some((project, reference)) => {
                self.paths_elsewhere(project, reference.as_deref(), view)?
            }
            None => self.own_paths()?,
        };
        if patterns.iter().any(|pattern| lies_there(pattern, &paths)) {
            return Ok(true);
        }
        let mut left = MOST_COMPARISONS;
        for pattern in patterns.iter().filter(|pattern| !is_exact(pattern)) {
            for path in paths.iter() {
                self.tick()?;
                left = left.saturating_sub(1);
                if left == 0 || self.globs.matches(pattern, path) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn own_paths(&mut self) -> Result<Arc<[String]>, StepFailure> {
        if let Some(paths) = &self.paths {
            return Ok(Arc::clone(paths));
        }
        let paths = self.tree.paths().map_err(StepFailure::Fault)?;
        self.paths = Some(Arc::clone(&paths));
        Ok(paths)
    }

    fn paths_elsewhere(
        &self,
        project: &str,
        reference: Option<&str>,
        view: View<'_>,
    ) -> Result<Arc<[String]>, StepFailure> {
        let expanded =
            |text| expand(text, &|name| view.get(name), UnknownVariable::Vanishes).into_owned();
        let (project, reference) = (expanded(project), reference.map(expanded));
        match self
            .given
            .fetch
            .project(&project, reference.as_deref())
            .map_err(StepFailure::Fault)?
        {
            Project::Found(tree) => tree.paths().map_err(StepFailure::Fault),
            Project::NotFound => Err(StepFailure::problem(format!(
                "rules:exists:project `{project}` is not a valid project path"
            ))),
            Project::NoReference => Err(StepFailure::problem(format!(
                "rules:exists:ref `{}` is not a valid ref in project `{project}`",
                reference.unwrap_or_default()
            ))),
        }
    }
}

fn expanded(paths: &[String], view: View<'_>) -> Vec<String> {
    let one =
        |path: &String| expand(path, &|name| view.get(name), UnknownVariable::Stays).into_owned();
    paths.iter().map(one).collect()
}

/// Whether a pattern is a path, without anything that stands for something else.
fn is_exact(pattern: &str) -> bool {
    !pattern.contains(['*', '?', '[', '{'])
}

/// Whether a path without stars is one of a file, or, with a slash at its end, of a folder. The paths are in order.
fn lies_there(path: &str, paths: &[String]) -> bool {
    if !is_exact(path) {
        return false;
    }
    let place = paths.partition_point(|other| other.as_str() < path);
    paths
        .get(place)
        .is_some_and(|found| found == path || (path.ends_with('/') && found.starts_with(path)))
}
