//! Evaluation of `workflow`: whether a pipeline is created, its variables and its name.

use super::over;
use crate::config::{
    Configuration, Refusal,
    entry::Values,
    evaluate::Evaluation,
    node::Node,
    plan::AutoCancel,
    variables::{Lookup, UnknownVariable},
};

const LONGEST_NAME: usize = 255;

pub(super) struct WorkflowResult {
    pub(super) globals: Values,
    pub(super) name: Option<String>,
    pub(super) auto_cancel: AutoCancel,
}

pub(super) fn workflow(
    configuration: &Configuration,
    lookup: &Lookup<'_>,
    evaluation: &mut Evaluation<'_>,
) -> Result<WorkflowResult, Refusal> {
    let workflow = &configuration.workflow;
    let mut globals = configuration.variables.clone();
    let mut cancel = workflow.auto_cancel.clone();
    if let Some(rules) = &workflow.rules {
        let view = lookup.of(None, &configuration.variables, &[]);
        let rule = evaluation
            .first(rules, view)
            .map_err(|stop| Refusal::from(stop.map(|problem| format!("workflow:{problem}"))))?;
        let rule = rule.filter(|rule| rule.when.as_deref() != Some("never"));
        let rule = rule.ok_or(Refusal::Filtered)?;
        if let Some(winning) = &rule.variables {
            globals = over(winning, &globals);
        }
        cancel = rule.auto_cancel.clone().or(cancel);
    }
    let view = lookup.of(None, &globals, &[]);
    let written = |name: &String| view.expand(name, UnknownVariable::Vanishes).into_owned();
    let name = workflow.name.as_ref().map(written);
    let name = name.map(|name| name.trim().chars().take(LONGEST_NAME).collect::<String>());
    let cancel = cancel.as_ref().and_then(Node::as_map);
    let word = |key: &str| cancel.and_then(|map| map.present(key)?.as_text().map(str::to_owned));
    let auto_cancel =
        AutoCancel { on_new_commit: word("on_new_commit"), on_job_failure: word("on_job_failure") };
    Ok(WorkflowResult { globals, name: name.filter(|name| !name.is_empty()), auto_cancel })
}
