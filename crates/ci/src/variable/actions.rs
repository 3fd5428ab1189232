//! Reading, making, changing and taking away variables.

use db::Tx;
use kernel::{
    Error, Faults, Result, Ts,
    audit::{AuditPlace, AuditRecord},
    ids::VariableId,
    page::{Page, PageRequest},
};
use secrets::{Secret, Vault};

use super::{
    ManageVariables, NewVariable, Reader, Variable, VariableChange, VariableOwner,
    VariableStore as _,
    rules::{HIDDEN_STAYS, faults, fullness},
    store::UsageStore as _,
};
use crate::ports::PlanLimits;

const SEVERAL: &str =
    "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'";

/// A page of the variables of a place.
pub fn list(tx: &mut Tx<'_>, reader: &impl Reader, page: PageRequest) -> Result<Page<Variable>> {
    tx.variables(reader.home(), page)
}

/// The variable of this name, and of this scope where there are several.
pub fn read(
    tx: &mut Tx<'_>,
    reader: &impl Reader,
    key: &str,
    scope: Option<&str>,
) -> Result<Variable> {
    let home = reader.home();
    let mut found = tx.variables_named(home, key)?;
    if let Some(scope) = scope {
        found.retain(|one| one.environment_scope == scope);
    }
    match found.len() {
        0 | 1 => found.pop().ok_or_else(|| Error::not_found(home.noun())),
        _ => Err(Error::conflict().whole(SEVERAL)),
    }
}

pub fn create(
    tx: &mut Tx<'_>,
    keeper: &impl ManageVariables,
    (limits, vault): (&impl PlanLimits, &Vault),
    new: NewVariable,
) -> Result<Variable> {
    let home = keeper.home();
    let NewVariable { kind, value, protected, masked, hidden, raw, description, .. } = new;
    let (project_id, namespace_id) = match home {
        VariableOwner::Instance => (None, None),
        VariableOwner::Group(group) => (None, Some(group)),
        VariableOwner::Project(project) => (Some(project), None),
    };
    let mut variable = Variable {
        id: VariableId(0),
        project_id,
        namespace_id,
        kind,
        key: new.key.trim().to_owned(),
        sealed: String::new(),
        protected,
        masked,
        hidden,
        raw,
        environment_scope: new.environment_scope.trim().to_owned(),
        description,
        created_at: tx.now,
        updated_at: tx.now,
    };
    check(tx, &variable, &value)?;
    variable.sealed = seal(vault, &variable, &value)?;
    let made = tx.insert_variable(&variable)?;
    ensure_room(tx, limits, home)?;
    record(tx, &made, AuditRecord::addition("ci_variable_created", place(&made), WHAT));
    Ok(made)
}

/// Changes the variable of this name. Its name stays: values are sealed for it. What changes nothing leaves no trace.
pub fn update(
    tx: &mut Tx<'_>,
    keeper: &impl ManageVariables,
    (limits, vault): (&impl PlanLimits, &Vault),
    key: &str,
    scope: Option<&str>,
    change: VariableChange,
) -> Result<Variable> {
    let before = read(tx, keeper, key, scope)?;
    let VariableChange { kind, value, protected, masked, raw, environment_scope, description } =
        change;
    let scope = environment_scope.map(|scope| scope.trim().to_owned());
    let mut after = Variable {
        kind: kind.unwrap_or(before.kind),
        protected: protected.unwrap_or(before.protected),
        masked: masked.unwrap_or(before.masked),
        raw: raw.unwrap_or(before.raw),
        environment_scope: scope.unwrap_or_else(|| before.environment_scope.clone()),
        description: description.unwrap_or_else(|| before.description.clone()),
        updated_at: tx.now,
        ..before.clone()
    };
    if before.hidden && !after.masked {
        return Err(Error::invalid("base", HIDDEN_STAYS));
    }
    // A value that cannot be read any more can still be replaced.
    let is_new =
        value.as_ref().is_some_and(|new| before.value(vault).ok().is_none_or(|old| old != *new));
    let value = value.map_or_else(|| before.value(vault), Ok)?;
    check(tx, &after, &value)?;
    if !is_new && !has_other_settings(&before, &after) {
        return Ok(before);
    }
    if is_new {
        after.sealed = seal(vault, &after, &value)?;
    }
    tx.update_variable(&after)?;
    ensure_room(tx, limits, after.home())?;
    record(tx, &after, AuditRecord::change("ci_variable_updated", place(&after), WHAT));
    Ok(after)
}

/// Whether anything beside the value is another.
fn has_other_settings(before: &Variable, after: &Variable) -> bool {
    before.kind != after.kind
        || before.protected != after.protected
        || before.masked != after.masked
        || before.raw != after.raw
        || before.environment_scope != after.environment_scope
        || before.description != after.description
}

/// Takes a variable away, unless it changed after `unmodified_since`.
pub fn remove(
    tx: &mut Tx<'_>,
    keeper: &impl ManageVariables,
    key: &str,
    scope: Option<&str>,
    unmodified_since: Option<Ts>,
) -> Result<()> {
    let variable = read(tx, keeper, key, scope)?;
    variable.updated_at.ensure_unchanged_since(unmodified_since)?;
    tx.delete_variable(variable.id)?;
    record(tx, &variable, AuditRecord::removal("ci_variable_deleted", place(&variable), WHAT));
    Ok(())
}

const WHAT: &str = "ci_variable";

fn place(variable: &Variable) -> AuditPlace {
    match variable.home() {
        VariableOwner::Instance => AuditPlace::Instance,
        VariableOwner::Group(group) => AuditPlace::Group(group),
        VariableOwner::Project(project) => AuditPlace::Project(project),
    }
}

/// Writes down who did it: of the variable no more than its name.
fn record(tx: &mut Tx<'_>, variable: &Variable, action: AuditRecord) {
    let id = variable.id.0;
    let scope = variable.environment_scope.clone();
    let action =
        action.target("Ci::Variable", id, &variable.key).detail("environment_scope", scope);
    tx.mention(action);
}

fn check(tx: &mut Tx<'_>, variable: &Variable, value: &Secret) -> Result<()> {
    let mut faults: Faults = faults(variable, value.reveal());
    let others = tx.variables_named(variable.home(), &variable.key)?;
    let is_same = |other: &&Variable| other.environment_scope == variable.environment_scope;
    if others.iter().filter(is_same).any(|other| other.id != variable.id) {
        faults.add("key", format!("({}) has already been taken", variable.key));
    }
    faults.into_result()
}

fn ensure_room(tx: &mut Tx<'_>, limits: &impl PlanLimits, home: VariableOwner) -> Result<()> {
    let (usage, limit) = (tx.variable_usage(home)?, limits.variables(tx, home)?);
    fullness(home, usage, limit).map_or(Ok(()), |text| Err(Error::invalid("base", text)))
}

fn seal(vault: &Vault, variable: &Variable, value: &Secret) -> Result<String> {
    vault.seal(&variable.home().place(&variable.key), value).map_err(Error::internal)
}
