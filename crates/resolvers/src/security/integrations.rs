//! Integrations of projects with other services.

use std::sync::Arc;

use admin::{integration::actions, owner::IntegrationKeeper as _, policy::AdminIntegrations};
use graphql::{Arguments, Connection, Failure, Registry, Value};
use org::hierarchy::above_project;

use crate::{
    context::Context,
    failure::{failure_of, visible},
    pipelines::LocatedProject,
    projects::ProjectRecord,
};

pub(super) fn register(registry: &mut Registry<Context>) {
    let _ = registry.object::<ProjectRecord>("Project").lookup(
        "services",
        |record: Arc<ProjectRecord>, arguments, context| async move {
            list(&LocatedProject::of(&record), &arguments, &context).await
        },
    );
}

/// What the schema calls a kind of integration: `drone-ci` is `DRONE_CI_SERVICE`.
fn type_name(slug: &str) -> String {
    format!("{}_SERVICE", slug.to_uppercase().replace('-', "_"))
}

/// The name of the class that such an integration once had: `DroneCiService`.
fn class_name(slug: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>())
    };
    let words: String = slug.split('-').filter_map(word).collect();
    format!("{words}Service")
}

async fn list(
    home: &LocatedProject,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let Some(grant) = visible(home.grant::<AdminIntegrations>())? else { return Ok(Value::Null) };
    let read = context.forge.db.read(move |tx| {
        let groups = above_project(tx, grant.project())?;
        actions::effective(tx, grant.home(), &groups)
    });
    let found = read.await.map_err(failure_of)?;
    let (active, wanted) = (arguments.maybe_bool("active"), arguments.maybe_enum("type"));
    let shown = found.iter().filter_map(|one| {
        let is_active = one.source.active && one.row.active;
        let name = type_name(&one.row.slug);
        let fits = active.is_none_or(|active| active == is_active)
            && wanted.as_ref().is_none_or(|wanted| *wanted == name);
        fits.then(|| {
            Value::fields(
                "BaseService",
                [
                    ("active", is_active.into()),
                    ("serviceType", name.into()),
                    ("type", class_name(&one.row.slug).into()),
                ],
            )
        })
    });
    Ok(Connection::of_list(&page, shown.collect()).into())
}
