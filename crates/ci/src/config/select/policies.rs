//! Evaluation of `only` and `except`.

use kernel::TextEnum as _;

use crate::{
    config::{
        StepFailure,
        entry::{Changes, JobEntry, Policy},
        evaluate::Evaluation,
        expression::pattern,
        input::{PipelineInput, RefKind},
        variables::View,
    },
    pipeline::Source,
};

/// All of what `only` names must hold, and nothing of what `except` names.
pub(super) fn fit(
    entry: &JobEntry,
    given: &PipelineInput<'_>,
    evaluation: &mut Evaluation<'_>,
    view: View<'_>,
) -> Result<bool, StepFailure> {
    let mut asking = PolicyContext { given, evaluation, view };
    if let Some(only) = &entry.only
        && asking.answers(only)?.contains(&false)
    {
        return Ok(false);
    }
    match &entry.except {
        Some(except) => Ok(!asking.answers(except)?.contains(&true)),
        None => Ok(true),
    }
}

struct PolicyContext<'a, 'e, 'v> {
    given: &'a PipelineInput<'a>,
    evaluation: &'a mut Evaluation<'e>,
    view: View<'v>,
}

impl PolicyContext<'_, '_, '_> {
    /// One answer for each part that is given.
    fn answers(&mut self, policy: &Policy) -> Result<Vec<bool>, StepFailure> {
        let mut answers = Vec::new();
        if let Some(refs) = &policy.refs {
            answers.push(refs.iter().any(|name| self.is_ref(name)));
        }
        if policy.kubernetes {
            answers.push(self.given.has_kubernetes);
        }
        if let Some(conditions) = &policy.variables {
            let view = self.view;
            answers.push(conditions.iter().any(|condition| self.evaluation.holds(condition, view)));
        }
        if let Some(paths) = &policy.changes {
            let changes = Changes { paths: paths.clone(), compare_to: None };
            answers.push(self.evaluation.has_changed(&changes, self.view)?);
        }
        Ok(answers)
    }

    /// Whether a name, keyword or pattern stands for what the pipeline is made for.
    fn is_ref(&mut self, written: &str) -> bool {
        let (name, project) = match written.split_once('@') {
            Some((name, project)) => (name, Some(project)),
            None => (written, None),
        };
        if project.is_some_and(|project| project != self.given.project) {
            return false;
        }
        let kind = self.given.ref_kind;
        let keyword = match name {
            "tags" => kind == RefKind::Tag,
            "branches" => kind == RefKind::Branch,
            _ => false,
        };
        keyword
            || is_source(name, self.given.source)
            || (kind != RefKind::MergeRequest && self.is_named(name))
    }

    fn is_named(&mut self, name: &str) -> bool {
        if pattern::is_written(name) {
            return self.evaluation.patterns.fits(name, self.given.ref_name);
        }
        name == self.given.ref_name
    }
}

/// Whether a word names the source, alone or in the plural.
fn is_source(word: &str, source: Source) -> bool {
    let name = source.as_str();
    let name = name.strip_suffix("_event").unwrap_or(name);
    let plural = if name.ends_with("sh") { "es" } else { "s" };
    word == name || word.strip_prefix(name) == Some(plural)
}
