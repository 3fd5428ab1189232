//! The settings of the installation with what no row knows of them: secrets in clear, and durations in words.

use std::sync::Arc;

use ci::{artifact::Lifetime, job::JobStore as _};
use db::Tx;
use kernel::{
    Error, Grant, Result, Ts,
    access::Administrate,
    error::Kind,
    ids::{JobId, ProjectId},
};
use org::settings::{
    SettingValues, Settings, actions,
    store::SettingsStore as _,
    table::{self, Setting},
};
use secrets::{Secret, Vault};
use serde_json::{Map, Value};
use time::Duration;

use crate::Forge;

/// Younger jobs are never archived.
const YOUNGEST_ARCHIVE: Duration = Duration::days(1);

/// Keeps the given values, if that can be; this server acts by them at once, others within a minute.
pub async fn update(
    forge: &Forge,
    grant: Grant<Administrate>,
    given: SettingValues,
) -> Result<Arc<Settings>> {
    durations(&given)?;
    let vault = forge.vault.clone();
    let work = move |tx: &mut Tx<'_>| {
        actions::update(tx, &grant, &given, |stored, setting, clear| {
            seal(&vault, stored, setting, clear)
        })
    };
    let _turn = forge.settings_change.lock().await;
    let settings = Arc::new(forge.db.write(work).await?);
    forge.follow(settings.clone());
    Ok(settings)
}

/// Refuses words that are no duration, or none that the setting can have.
fn durations(given: &SettingValues) -> Result<()> {
    let words = |name: &str| {
        let found = given.0.iter().find(|(setting, _)| setting.name == name);
        found.and_then(|(_, words)| words.as_str())
    };
    let archive = words("archive_builds_in_human_readable").filter(|text| !text.trim().is_empty());
    if archive.is_some_and(|words| archive_age(words).is_none()) {
        return Err(Error::invalid("archive_builds_in_seconds", "must be at least 1 day"));
    }
    let artifacts = "default_artifacts_expire_in";
    match words(artifacts).is_some_and(|words| Lifetime::parse(words).is_none()) {
        true => Err(Error::invalid(artifacts, "is not a correct duration")),
        false => Ok(()),
    }
}

/// The age from which jobs are archived, by the words of the setting; `None` where they are no age of a day or more.
pub fn archive_age(words: &str) -> Option<Duration> {
    match Lifetime::parse(words)? {
        Lifetime::Of(age) if age >= YOUNGEST_ARCHIVE => Some(age),
        Lifetime::Of(_) | Lifetime::Endless => None,
    }
}

/// Jobs that were made until then are too old to be done once more, by the settings of the installation.
pub(crate) fn archived_before(tx: &mut Tx<'_>) -> Result<Option<Ts>> {
    Ok(archived_until(&tx.settings()?, tx.now))
}

/// The same by settings that are known.
pub(crate) fn archived_until(settings: &Settings, now: Ts) -> Option<Ts> {
    let age = settings.archive_builds_in_human_readable().and_then(archive_age)?;
    Some(now.plus(-age))
}

/// Whether a job of a project is too old to be done once more.
///
/// # Errors
/// When the database cannot be read.
pub fn is_archived(tx: &mut Tx<'_>, project: ProjectId, job: JobId) -> Result<bool> {
    let Some(then) = archived_before(tx)? else { return Ok(false) };
    match tx.job(job) {
        Ok(job) => Ok(job.project_id == project && job.created_at <= then),
        Err(absent) if absent.kind == Kind::NotFound => Ok(false),
        Err(failure) => Err(failure),
    }
}

/// All settings as administrators see them.
pub fn document(forge: &Forge, settings: &Settings) -> Result<Map<String, Value>> {
    let mut document = settings.document()?;
    if settings.commit_email_hostname().is_none() {
        let host = forge.urls.private_mail_host();
        document.insert("commit_email_hostname".to_owned(), host.into());
    }
    // Pictures of this host are never fetched by way of the proxy.
    if let Some(Value::Array(hosts)) = document.get_mut("asset_proxy_allowlist") {
        let own = forge.urls.host_name();
        let is_own = |host: &Value| host.as_str().is_some_and(|it| it.eq_ignore_ascii_case(own));
        if !hosts.iter().any(is_own) {
            hosts.push(own.into());
        }
    }
    for setting in table::all().filter(|setting| setting.is_secret()) {
        if let Some(value) = document.get_mut(setting.name) {
            *value = clear(&forge.vault, setting, value);
        }
    }
    Ok(document)
}

/// Each sealing of a secret reads otherwise, so one that is stored already stays as it is.
fn seal(vault: &Vault, stored: &Settings, setting: &Setting, text: &str) -> Result<String> {
    let value = stored.value(setting.name)?;
    if let Some(sealed) = value.as_str()
        && clear(vault, setting, &value) == text
    {
        return Ok(sealed.to_owned());
    }
    vault.seal(&place(setting.name), &Secret::new(text)).map_err(Error::internal)
}

/// Null where nothing is stored, or what is stored cannot be read.
fn clear(vault: &Vault, setting: &Setting, stored: &Value) -> Value {
    let sealed = stored.as_str().filter(|sealed| !sealed.is_empty());
    let clear = sealed.and_then(|sealed| vault.unseal(&place(setting.name), sealed).ok());
    clear.map_or(Value::Null, |secret| secret.into_revealed().into())
}

/// One secret in clear; `None` where nobody has set it.
pub(crate) fn secret(forge: &Forge, settings: &Settings, name: &str) -> Option<String> {
    let setting = table::find(name)?;
    let value = clear(&forge.vault, setting, settings.other.get(name)?);
    value.as_str().map(str::to_owned)
}

/// Where a secret is sealed for.
fn place(name: &str) -> String {
    format!("settings/{name}")
}

/// Names and sealed values of all secrets that are set.
fn sealed(tx: &mut Tx<'_>) -> Result<Vec<(&'static str, String)>> {
    let settings = tx.settings()?;
    let secrets = table::all().filter(|setting| setting.is_secret());
    let stored = secrets.filter_map(|setting| {
        let value = settings.other.get(setting.name)?.as_str()?;
        (!value.is_empty()).then(|| (setting.name, value.to_owned()))
    });
    Ok(stored.collect())
}

/// Whether a secret is set.
pub(crate) fn has_sealed(tx: &mut Tx<'_>) -> Result<bool> {
    Ok(!sealed(tx)?.is_empty())
}

/// How many secrets are set.
pub(crate) fn count_sealed(tx: &mut Tx<'_>) -> Result<i64> {
    Ok(sealed(tx)?.len().try_into().unwrap_or(i64::MAX))
}

/// Forgets all secrets; the answer is how many there were.
pub(crate) fn forget_sealed(tx: &mut Tx<'_>) -> Result<usize> {
    let names: Vec<&str> = sealed(tx)?.into_iter().map(|(name, _)| name).collect();
    if names.is_empty() {
        return Ok(0);
    }
    let mut settings = tx.settings()?;
    settings.other.retain(|name, _| !names.contains(&name.as_str()));
    tx.store_settings(&settings)?;
    Ok(names.len())
}

/// Whether a vault has the key of the secrets; `None` where none is set.
pub(crate) fn is_key_of(tx: &mut Tx<'_>, vault: &Vault) -> Result<Option<bool>> {
    let sealed = sealed(tx)?;
    let opens = |(name, value): &(&str, String)| vault.unseal(&place(name), value).is_ok();
    Ok((!sealed.is_empty()).then(|| sealed.iter().any(opens)))
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::archive_age;

    #[test]
    fn jobs_are_archived_after_a_day_or_more() {
        assert_eq!(archive_age("1 day"), Some(Duration::days(1)));
        assert_eq!(archive_age("3 weeks"), Some(Duration::weeks(3)));
        for words in ["23 hours", "0", "never", "soon"] {
            assert_eq!(archive_age(words), None, "{words}");
        }
    }
}
