//! Evaluation of a rule: its condition, changed paths and existing files.

use std::{collections::HashMap, sync::Arc, time::Instant};

use regex::Regex;

use super::{
    StepFailure,
    entry::{Changes, Exists, Rule},
    expression::{Expression, pattern::Patterns},
    glob::{self, GlobStart, Globs},
    input::{PipelineInput, Project, Tree},
    variables::{UnknownVariable, View},
};

/// Comparisons of a path with a pattern after which a file is taken to exist.
const MOST_COMPARISONS: usize = 50_000;
/// Answers that are remembered.
const MOST_REMEMBERED: usize = 1000;
/// Between two looks at the time: letters of patterns times letters of the paths that they are held against.
const STEP: usize = 1 << 20;

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
    /// What was done since the last look at the time.
    work: usize,
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
            work: 0,
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
        let patterns = expanded(&changes.paths, view)?;
        let Some(reference) = &changes.compare_to else {
            return self.has_changed_since_base(patterns, view);
        };
        let reference = written(reference, UnknownVariable::Vanishes, view)?;
        if !self.changed_since.contains_key(&reference) {
            let paths = self.tree.changed_since(&reference).map_err(StepFailure::Fault)?;
            self.changed_since.insert(reference.clone(), paths);
        }
        let paths = self.changed_since.get(&reference).cloned().flatten();
        let invalid = "rules:changes:compare_to is not a valid ref";
        let paths = paths.ok_or_else(|| StepFailure::problem(invalid))?;
        self.any_fits(&patterns, &paths, view)
    }

    fn has_changed_since_base(
        &mut self,
        patterns: Vec<String>,
        view: View<'_>,
    ) -> Result<bool, StepFailure> {
        let Some(paths) = self.given.changes else { return Ok(true) };
        if let Some(answer) = self.asked.get(&patterns) {
            return Ok(*answer);
        }
        let answer = self.any_fits(&patterns, paths, view)?;
        if self.asked.len() < MOST_REMEMBERED {
            self.asked.insert(patterns, answer);
        }
        Ok(answer)
    }

    fn any_fits(
        &mut self,
        patterns: &[String],
        paths: &[String],
        view: View<'_>,
    ) -> Result<bool, StepFailure> {
        if paths.is_empty() {
            return Ok(false);
        }
        // Pattern by pattern: more of them than are kept are then compiled once, not once for each path.
        let mut unlimited = usize::MAX;
        for pattern in patterns {
            if self.has_fitting(pattern, paths, &mut unlimited, view)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether one of the paths fits a pattern; the last comparison that is `left` is taken to find one. The pattern is
    /// compiled for the first path that begins as it does.
    fn has_fitting(
        &mut self,
        pattern: &str,
        paths: &[String],
        left: &mut usize,
        view: View<'_>,
    ) -> Result<bool, StepFailure> {
        let Some(start) = GlobStart::of(pattern) else { return Ok(false) };
        let mut regex = None;
        for path in paths {
            self.tick(pattern, path)?;
            *left = left.saturating_sub(1);
            if *left == 0 {
                return Ok(true);
            }
            let fits = match start.fits(path) {
                Some(fits) => fits,
                None => {
                    if regex.is_none() {
                        regex = self.compiled(pattern, view)?;
                    }
                    let Some(regex) = &regex else { return Ok(false) };
                    regex.is_match(path)
                }
            };
            if fits {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A pattern to hold paths against. To compile one is dear, so it is paid for, and the time is looked at.
    fn compiled(
        &mut self,
        pattern: &str,
        view: View<'_>,
    ) -> Result<Option<Arc<Regex>>, StepFailure> {
        if !self.globs.is_ready(pattern) {
            self.ensure_time()?;
            if !view.take(glob::cost(pattern)) {
                return Err(StepFailure::too_big());
            }
        }
        Ok(self.globs.compile(pattern))
    }

    /// Looks at the time now and then.
    fn tick(&mut self, pattern: &str, path: &str) -> Result<(), StepFailure> {
        self.work = self.work.saturating_add(pattern.len().saturating_mul(path.len()));
        if self.work < STEP {
            return Ok(());
        }
        self.work = 0;
        self.ensure_time()
    }

    fn ensure_time(&self) -> Result<(), StepFailure> {
        if self.given.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            return Err(StepFailure::late());
        }
        Ok(())
    }

    fn exists(&mut self, exists: &Exists, view: View<'_>) -> Result<bool, StepFailure> {
        let patterns = expanded(&exists.paths, view)?;
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
        if paths.is_empty() {
            return Ok(false);
        }
        let mut left = MOST_COMPARISONS;
        for pattern in patterns.iter().filter(|pattern| !is_exact(pattern)) {
            if self.has_fitting(pattern, &paths, &mut left, view)? {
                return Ok(true);
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
        let written = |text: &str| written(text, UnknownVariable::Vanishes, view);
        let (project, reference) = (written(project)?, reference.map(written).transpose()?);
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

fn expanded(paths: &[String], view: View<'_>) -> Result<Vec<String>, StepFailure> {
    paths.iter().map(|path| written(path, UnknownVariable::Stays, view)).collect()
}

/// A text with values for names, while that is allowed.
fn written(text: &str, unknown: UnknownVariable, view: View<'_>) -> Result<String, StepFailure> {
    let text = view.expand(text, unknown).into_owned();
    match view.is_exhausted() {
        true => Err(StepFailure::too_big()),
        false => Ok(text),
    }
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

#[cfg(test)]
mod tests {
    use super::{Evaluation, Patterns, PipelineInput};
    use crate::config::{
        entry::Values,
        input::NoFiles,
        variables::{Lookup, OuterVariables},
    };

    #[test]
    fn a_pattern_takes_from_what_may_be_written_out() {
        let (known, own) = (OuterVariables::default(), Values::default());
        let lookup = Lookup::new(&known);
        let given = PipelineInput::push("main", "group/project", &known);
        let mut patterns = Patterns::default();
        let mut evaluation = Evaluation::new(&given, &NoFiles, &mut patterns);
        let mut fits = |pattern: &str| {
            let view = lookup.of(None, &own, &[]);
            evaluation.any_fits(&[pattern.to_owned()], &["a.rs".to_owned()], view)
        };
        assert!(lookup.take((32 << 20) - 1000));

        for _ in 0..4 {
            assert!(fits("*.rs").unwrap());
        }
        assert!(!fits(&"a".repeat(5000)).unwrap());
        for number in 0..100 {
            let (file, folder) = (format!("b/{number}.rs"), format!("b/{number}/**/*"));
            assert!(!fits(&file).unwrap() && !fits(&folder).unwrap(), "nothing is compiled");
        }
        assert!(fits("a.rs").unwrap());
        assert!(!lookup.is_exhausted());
        assert!(fits("**/*.rs").is_err());
        assert!(lookup.is_exhausted());
    }
}
