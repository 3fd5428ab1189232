//! Reading, setting and removing features.

use db::Tx;
use kernel::{
    Error, Faults, Grant, Result,
    access::Administrate,
    audit::{AuditPlace, AuditRecord},
};

use super::{Feature, FeatureName, FeatureStore as _};

/// So many features there may be, and so many actors each.
pub const MOST: usize = 1000;

/// The value that a feature is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    On,
    Off,
    PercentageOfTime(i64),
    PercentageOfActors(i64),
}

/// For whom a feature is set; for everybody where both are empty.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    pub actors: Vec<String>,
    pub groups: Vec<String>,
}

pub fn list(tx: &mut Tx<'_>, _: &Grant<Administrate>) -> Result<Vec<Feature>> {
    tx.features()
}

pub fn set(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    name: &FeatureName,
    setting: Setting,
    targets: &Targets,
) -> Result<Feature> {
    tx.lock_features()?;
    let old = tx.feature(name.as_str())?;
    if old.is_none() {
        ensure_room(tx)?;
    }
    let before = old.as_ref().map(shown_gates).unwrap_or_default();
    let mut feature =
        old.unwrap_or_else(|| Feature { name: name.as_str().to_owned(), ..Feature::default() });
    match setting {
        Setting::On => switch_on(&mut feature, targets),
        Setting::Off => switch_off(&mut feature, targets),
        Setting::PercentageOfTime(percentage) => feature.percentage_of_time = percentage,
        Setting::PercentageOfActors(percentage) => feature.percentage_of_actors = percentage,
    }
    if feature.actors.len() + feature.groups.len() > MOST {
        return Err(Error::bad_request().whole(format!("a feature has at most {MOST} actors")));
    }
    tx.save_feature(&feature)?;
    let after = shown_gates(&feature);
    if after != before {
        let change = AuditRecord::change("instance_feature_updated", AuditPlace::Instance, "gates");
        record(tx, &feature.name, change.values(before, after));
    }
    Ok(feature)
}

fn record(tx: &mut Tx<'_>, name: &str, action: AuditRecord) {
    tx.mention(action.target("Feature", 0, name));
}

/// What is told of the gates of a feature is no longer than this.
const LONGEST_GATES: usize = 1000;

/// The gates in one line, `boolean: false, actors: User:1`.
fn shown_gates(feature: &Feature) -> String {
    let gates = feature.gates().into_iter().map(|(gate, value)| format!("{gate}: {value}"));
    gates.collect::<Vec<_>>().join(", ").chars().take(LONGEST_GATES).collect()
}

fn ensure_room(tx: &mut Tx<'_>) -> Result<()> {
    let mut faults = Faults::default();
    if tx.features()?.len() >= MOST {
        faults.add("base", format!("there are at most {MOST} features"));
    }
    faults.into_result()
}

fn switch_on(feature: &mut Feature, targets: &Targets) {
    if targets.actors.is_empty() && targets.groups.is_empty() {
        *feature = Feature {
            name: std::mem::take(&mut feature.name),
            boolean: true,
            ..Feature::default()
        };
        return;
    }
    for (list, new) in
        [(&mut feature.actors, &targets.actors), (&mut feature.groups, &targets.groups)]
    {
        let fresh: Vec<String> = new.iter().filter(|one| !list.contains(one)).cloned().collect();
        list.extend(fresh);
    }
}

fn switch_off(feature: &mut Feature, targets: &Targets) {
    if targets.actors.is_empty() && targets.groups.is_empty() {
        *feature = Feature { name: std::mem::take(&mut feature.name), ..Feature::default() };
        return;
    }
    feature.actors.retain(|actor| !targets.actors.contains(actor));
    feature.groups.retain(|group| !targets.groups.contains(group));
}

/// Removes all that was set; a name that nobody has set is no mistake.
pub fn remove(tx: &mut Tx<'_>, _: &Grant<Administrate>, name: &FeatureName) -> Result<()> {
    tx.lock_features()?;
    if tx.feature(name.as_str())?.is_some() {
        let what = "feature";
        let gone = AuditRecord::removal("instance_feature_deleted", AuditPlace::Instance, what);
        record(tx, name.as_str(), gone);
    }
    tx.delete_feature(name.as_str())
}
