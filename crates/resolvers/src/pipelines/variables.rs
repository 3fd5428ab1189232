//! CI/CD variables of the installation, groups and projects.

use std::sync::Arc;

use ci::{
    policy::{AdminGroupVariables, ReadVariables},
    ports::PlanLimits as _,
    variable::{Reader, Variable, actions},
};
use entities::ci::variable::VariableEntity;
use forge::ports::ci::PlanLimits;
use graphql::{Arguments, Failure, Registry, Value};
use kernel::{Grant, Result, access::Administrate};
use secrets::Vault;

use super::{
    enum_names::name_of,
    located_project::{LocatedProject, group_grant, instance_grant},
};
use crate::{
    context::Context,
    failure::{failure_of, visible},
    groups::GroupRecord,
    numbered_list::NumberedList,
    projects::ProjectRecord,
};

pub(super) fn register(registry: &mut Registry<Context>) {
    let _ = registry.query().lookup("ciVariables", |_, arguments, context| async move {
        let grant: Option<Grant<Administrate>> = visible(instance_grant(&context))?;
        list(&context, &arguments, grant, ("CiInstanceVariable", "Ci::InstanceVariable")).await
    });
    let _ = registry.object::<GroupRecord>("Group").lookup(
        "ciVariables",
        |record: Arc<GroupRecord>, arguments, context| async move {
            let grant = match group_grant::<AdminGroupVariables>(&context, record.id()).await {
                Ok(grant) => Some(grant),
                Err(Failure::NotFoundOrForbidden) => None,
                Err(failure) => return Err(failure),
            };
            list(&context, &arguments, grant, ("CiGroupVariable", "Ci::GroupVariable")).await
        },
    );
    let _ = registry.object::<ProjectRecord>("Project").lookup(
        "ciVariables",
        |record: Arc<ProjectRecord>, arguments, context| async move {
            let grant = visible(LocatedProject::of(&record).grant::<ReadVariables>())?;
            list(&context, &arguments, grant, ("CiProjectVariable", "Ci::Variable")).await
        },
    );
}

async fn list<R>(
    context: &Context,
    arguments: &Arguments,
    reader: Option<R>,
    names: (&'static str, &'static str),
) -> Result<Value, Failure>
where
    R: Reader + Clone + Send + 'static,
{
    let page = arguments.page()?;
    let Some(reader) = reader else { return Ok(Value::Null) };
    let (vault, asked) = (context.forge.vault.clone(), page.clone());
    let read = context.forge.db.read(move |tx| {
        let found = NumberedList::read(&asked, |part| actions::list(tx, &reader, part))?;
        let limit = PlanLimits.variables(tx, reader.home())?;
        let values = found.try_map_all(|all| {
            all.into_iter().map(|one| variable(one, &vault, names)).collect::<Result<Vec<Value>>>()
        })?;
        Ok((values, limit))
    });
    let (found, limit) = read.await.map_err(failure_of)?;
    Ok(found.connection(&page, |value| value).field("limit", limit).into())
}

fn variable(
    row: Variable,
    vault: &Vault,
    (type_name, class): (&'static str, &'static str),
) -> Result<Value> {
    let id = row.id;
    let shown = VariableEntity::new(row, vault)?;
    Ok(Value::fields(
        type_name,
        [
            ("environmentScope", shown.environment_scope.into()),
            ("id", Value::gid(class, id)),
            ("key", shown.key.into()),
            ("masked", shown.masked.into()),
            ("protected", shown.protected.into()),
            ("raw", shown.raw.into()),
            ("value", shown.value.into()),
            ("variableType", name_of(shown.variable_type)),
        ],
    ))
}
