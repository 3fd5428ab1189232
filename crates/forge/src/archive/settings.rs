//! What belongs to the settings of a project and is in tables of its own, on its way into an archive and out of one:
//! webhooks, integrations and the push rule.

use std::{path::Path, sync::Arc};

use admin::{
    hook::archive::{self as hooks, HookRecord},
    integration::archive::{self as integrations, IntegrationRecord},
};
use db::Tx;
use kernel::{Error, Result, ids::ProjectId};
use org::hierarchy::above_project;
use repo::push_rule::archive::{self as push_rules, PushRuleRecord};
use secrets::Vault;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    failure::{ArchiveError, unreadable},
    files::lines_of,
    layout, lines,
    pack::Packer,
    picture,
};
use crate::{
    Forge,
    files::avatars::{Owner, StagedAvatar, finish_change},
    import::refusal_text,
    webhook::OutgoingRule,
};

#[derive(Clone, Debug)]
pub(super) struct ProjectSettings {
    hooks: Vec<HookRecord>,
    integrations: Vec<IntegrationRecord>,
    push_rule: Option<PushRuleRecord>,
}

/// Adds those of a project to an archive.
pub(super) async fn write(forge: &Forge, packer: &mut Packer, project: ProjectId) -> Result<()> {
    let vault = Arc::clone(&forge.vault);
    let read = forge.db.read(move |tx| {
        Ok(ProjectSettings {
            hooks: hooks::records(tx, project, &vault)?,
            integrations: integrations::records(tx, project, &vault)?,
            push_rule: push_rules::record(tx, project)?,
        })
    });
    let all = read.await?;
    packer.text(layout::HOOKS, &lines_of(&all.hooks)?).await?;
    packer.text(layout::INTEGRATIONS, &lines_of(&all.integrations)?).await?;
    packer.text(layout::PUSH_RULES, &lines_of(all.push_rule.as_slice())?).await
}

/// Reads those of an archive, and looks whether all of them can be taken. Blocks.
pub(super) fn read(folder: &Path) -> Result<ProjectSettings, ArchiveError> {
    let hooks: Vec<HookRecord> = records(folder, layout::HOOKS, hooks::limit())?;
    hooks::ensure_sound(&hooks).map_err(|cause| flaw("a webhook", &cause))?;
    let integrations: Vec<IntegrationRecord> =
        records(folder, layout::INTEGRATIONS, integrations::limit())?;
    integrations::ensure_sound(&integrations).map_err(|cause| flaw("an integration", &cause))?;
    let push_rule: Option<PushRuleRecord> = records(folder, layout::PUSH_RULES, 1)?.pop();
    if let Some(rule) = &push_rule {
        rule.ensure_sound().map_err(|cause| flaw("a push rule", &cause))?;
    }
    Ok(ProjectSettings { hooks, integrations, push_rule })
}

/// What is wrong with a part of an archive, by the refusal of the domain that owns it.
pub(super) fn flaw(what: &str, cause: &Error) -> ArchiveError {
    let text = refusal_text(cause);
    ArchiveError::Flawed(format!("The archive has {what} that cannot be taken: {text}."))
}

fn records<T: DeserializeOwned>(
    folder: &Path,
    path: &str,
    most: usize,
) -> Result<Vec<T>, ArchiveError> {
    let all: Vec<Value> = lines::read_all(folder, path, most)?;
    let read = all.into_iter().map(|value| {
        ensure_storable(path, &value)?;
        let unread = |cause| unreadable(&format!("A line of {path}"), &cause);
        serde_json::from_value(value).map_err(unread)
    });
    read.collect()
}

/// Refuses a document with a character that texts of databases cannot have.
pub(super) fn ensure_storable(path: &str, value: &Value) -> Result<(), ArchiveError> {
    match has_unstorable(value) {
        true => {
            Err(ArchiveError::Flawed(format!("{path} has a character that texts cannot have.")))
        }
        false => Ok(()),
    }
}

fn has_unstorable(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(all) => all.iter().any(has_unstorable),
        Value::Object(fields) => {
            fields.iter().any(|(name, value)| name.contains('\0') || has_unstorable(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Settings, and the picture of their project, with what it takes to write them.
#[derive(Clone)]
pub(super) struct StagedSettings {
    settings: ProjectSettings,
    picture: Option<StagedAvatar>,
    vault: Arc<Vault>,
    urls: OutgoingRule,
}

/// Makes those of an archive ready; `picture` is the name of the picture that its project has.
pub(super) async fn stage(
    forge: &Forge,
    folder: &Path,
    settings: ProjectSettings,
    picture: Option<&str>,
) -> Result<StagedSettings> {
    Ok(StagedSettings {
        settings,
        picture: picture::stage(forge, folder, picture).await?,
        vault: Arc::clone(&forge.vault),
        urls: forge.courier.rules.web(),
    })
}

impl StagedSettings {
    /// Gives them to a project, once it has everything else: webhooks and integrations are not told of that.
    pub(super) fn restore(self, tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
        let (settings, with) = (&self.settings, (&*self.vault, &self.urls));
        if let Some(rule) = &settings.push_rule {
            push_rules::restore(tx, project, rule)?;
        }
        let groups = above_project(tx, project)?;
        integrations::restore(tx, project, with, &groups, &settings.integrations)?;
        hooks::restore(tx, project, with, &settings.hooks)?;
        finish_change(tx, Some(self.picture), Owner::Project(project))
    }
}
