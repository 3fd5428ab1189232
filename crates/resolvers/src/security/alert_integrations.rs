//! Endpoints that accept alerts of a project.

use std::{collections::BTreeMap, sync::Arc};

use admin::{
    integration::{
        Kind, Values,
        actions::{self as integrations, IntegrationChange as ServiceChange},
    },
    owner::Owner as IntegrationOwner,
    policy::AdminIntegrations,
};
use db::Tx;
use entities::security::alert_integration::AlertIntegrationEntity;
use forge::urls::Urls;
use graphql::{Arguments, Connection, Failure, Payload, Registry, Value};
use kernel::{
    Error, Grant, Result as KernelResult, TextEnum as _,
    error::Kind as ErrorKind,
    ids::{AlertIntegrationId, ProjectId},
};
use secrets::Vault;
use security::{
    alert::Payload as AlertPayload,
    integration::{
        AlertField, AlertIntegration, IntegrationKind, IntegrationStore as _, MappedType, Mapping,
        Mappings,
        actions::{self, IntegrationChange, NewIntegration},
    },
    policy::{AdminAlerts, ReadAlertIntegrations},
};
use serde_json::Value as Json;

use crate::{
    context::Context,
    failure::{done, failure_of, visible},
    pipelines::{LocatedProject, located_project, name_of, value_of},
    projects::ProjectRecord,
};

/// What endpoints of this kind are called, for they have no other name.
const PROMETHEUS: &str = "Prometheus";
/// Global ids of the two kinds of endpoints.
const CLASSES: [&str; 2] = ["AlertManagement::HttpIntegration", "Integrations::Prometheus"];
/// Endpoints of a project.
const LIMIT: i64 = 100;
/// Fields of an example that are told.
const FIELDS: usize = 500;

pub(super) fn register(registry: &mut Registry<Context>) {
    register_lists(registry);
    registry.mutation("httpIntegrationCreate", |input, context| async move {
        create(&input, &context, IntegrationKind::Http).await
    });
    registry.mutation("httpIntegrationUpdate", |input, context| async move {
        update(&input, &context, IntegrationKind::Http).await
    });
    registry.mutation("httpIntegrationResetToken", |input, context| async move {
        reset_token(&input, &context, IntegrationKind::Http).await
    });
    registry.mutation("httpIntegrationDestroy", |input, context| async move {
        let (home, grant, row) = named(&input, &context, IntegrationKind::Http).await?;
        let shown = value(&context, &home, &row, None).map_err(failure_of)?;
        let removed =
            context.forge.db.write(move |tx| actions::remove(tx, &grant, row.id, None)).await;
        Ok(match done(removed)? {
            Ok(()) => Payload::new().field("integration", shown),
            Err(errors) => Payload::errors(errors),
        })
    });
    registry.mutation("prometheusIntegrationCreate", |input, context| async move {
        create(&input, &context, IntegrationKind::Prometheus).await
    });
    registry.mutation("prometheusIntegrationUpdate", |input, context| async move {
        update(&input, &context, IntegrationKind::Prometheus).await
    });
    registry.mutation("prometheusIntegrationResetToken", |input, context| async move {
        reset_token(&input, &context, IntegrationKind::Prometheus).await
    });
}

fn register_lists(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<ProjectRecord>("Project")
        .lookup(
            "alertManagementHttpIntegrations",
            |record: Arc<ProjectRecord>, arguments, context| async move {
                let id = arguments.maybe_gid("id", &CLASSES[..1])?;
                let only = |row: &AlertIntegration| {
                    row.kind == IntegrationKind::Http && id.is_none_or(|id| row.id.0 == id)
                };
                list(&LocatedProject::of(&record), &arguments, &context, only).await
            },
        )
        .lookup(
            "alertManagementIntegrations",
            |record: Arc<ProjectRecord>, arguments, context| async move {
                let id = arguments.maybe_gid("id", &CLASSES)?;
                let only = |row: &AlertIntegration| id.is_none_or(|id| row.id.0 == id);
                list(&LocatedProject::of(&record), &arguments, &context, only).await
            },
        )
        .lookup(
            "alertManagementPayloadFields",
            |record: Arc<ProjectRecord>, arguments, _| async move {
                if !LocatedProject::of(&record).may::<ReadAlertIntegrations>() {
                    return Ok(Value::Null);
                }
                let example = arguments.text("payloadExample")?;
                if AlertPayload::read(example.as_bytes()).is_none() {
                    return Err(Failure::message("payloadExample is no JSON object"));
                }
                Ok(Value::List(fields_of(&example)))
            },
        );
}

/// `api_url` is the address of the Prometheus server that the project is set to.
fn value(
    context: &Context,
    home: &LocatedProject,
    row: &AlertIntegration,
    api_url: Option<&str>,
) -> KernelResult<Value> {
    shown(&context.forge.urls, &context.forge.vault, home, row, api_url)
}

fn shown(
    urls: &Urls,
    vault: &Vault,
    home: &LocatedProject,
    row: &AlertIntegration,
    api_url: Option<&str>,
) -> KernelResult<Value> {
    let entity = AlertIntegrationEntity::new(urls, vault, &home.facts().full_path, row)?;
    let id = |class: &str| Value::gid(class, entity.id);
    let plain = |id: Value, api_url: Value| {
        [
            ("active", entity.active.into()),
            ("apiUrl", api_url),
            ("id", id),
            ("name", entity.name.as_str().into()),
            ("token", entity.token.as_str().into()),
            ("type", name_of(row.kind)),
            ("url", entity.url.as_str().into()),
        ]
    };
    if row.kind == IntegrationKind::Prometheus {
        let fields = plain(id(CLASSES[1]), api_url.into());
        return Ok(Value::fields("AlertManagementPrometheusIntegration", fields));
    }
    let mappings = entity.payload_attribute_mappings.iter().map(|one| {
        Value::fields(
            "AlertManagementPayloadAlertMappingField",
            [
                ("fieldName", name_of(one.field_name)),
                ("label", one.label.as_deref().into()),
                ("path", path(&one.path)),
                ("type", name_of(one.r#type)),
            ],
        )
    });
    let example = row.payload_example.as_deref();
    let [active, api_url, id, name, token, kind, url] = plain(id(CLASSES[0]), Value::Null);
    Ok(Value::fields(
        "AlertManagementHttpIntegration",
        [
            active,
            api_url,
            id,
            name,
            ("payloadAlertFields", Value::List(example.map(fields_of).unwrap_or_default())),
            ("payloadAttributeMappings", Value::list(mappings)),
            ("payloadExample", example.into()),
            token,
            kind,
            url,
        ],
    ))
}

/// A path whose numbers are places in lists. What is written otherwise, such as `007`, is a key.
fn path(parts: &[String]) -> Value {
    let part = |part: &String| match part.parse::<u32>() {
        Ok(number) if number.to_string() == *part => Value::Int(number.into()),
        _ => part.as_str().into(),
    };
    Value::list(parts.iter().map(part))
}

/// The fields of an example of what a monitor sends, outermost first.
fn fields_of(example: &str) -> Vec<Value> {
    let Ok(root) = serde_json::from_str::<Json>(example) else { return Vec::new() };
    let mut open: Vec<(Vec<String>, &Json)> = vec![(Vec::new(), &root)];
    let mut fields = Vec::new();
    while let Some((at, node)) = open.pop() {
        let below = |name: String| at.iter().cloned().chain([name]).collect::<Vec<String>>();
        if let Json::Object(entries) = node {
            open.extend(entries.iter().rev().map(|(name, value)| (below(name.clone()), value)));
        }
        if at.is_empty() || matches!(node, Json::Object(_)) {
            continue;
        }
        let kind = if node.is_array() { "ARRAY" } else { "STRING" };
        fields.push(Value::fields(
            "AlertManagementPayloadAlertField",
            [
                ("label", at.last().map(String::as_str).into()),
                ("path", path(&at)),
                ("type", kind.into()),
            ],
        ));
        if fields.len() >= FIELDS {
            break;
        }
    }
    fields
}

/// The address of the Prometheus server that a project is set to.
fn prometheus_url(tx: &mut Tx<'_>, project: ProjectId) -> KernelResult<Option<String>> {
    let own = integrations::effective(tx, IntegrationOwner::Project(project), &[])?;
    let Some(found) = own.into_iter().find(|one| one.row.slug == "prometheus") else {
        return Ok(None);
    };
    let properties = found.source.properties()?;
    Ok(properties.get("api_url").and_then(Json::as_str).map(str::to_owned))
}

async fn list(
    home: &Arc<LocatedProject>,
    arguments: &Arguments,
    context: &Context,
    only: impl Fn(&AlertIntegration) -> bool,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let Some(grant) = visible(home.grant::<ReadAlertIntegrations>())? else {
        return Ok(Value::Null);
    };
    let all = kernel::page::PageRequest { page: 1, per_page: LIMIT };
    let read = context.forge.db.read(move |tx| {
        let found = actions::list(tx, &grant, all)?.items;
        Ok((found, prometheus_url(tx, grant.project())?))
    });
    let (rows, url) = read.await.map_err(failure_of)?;
    let values = rows.iter().filter(|row| only(row));
    let values = values.map(|row| value(context, home, row, url.as_deref()));
    let values = values.collect::<KernelResult<Vec<Value>>>().map_err(failure_of)?;
    Ok(Connection::of_list(&page, values).into())
}

/// The endpoint that the input names, and that the caller may change it.
async fn named(
    input: &Arguments,
    context: &Context,
    kind: IntegrationKind,
) -> Result<(Arc<LocatedProject>, Grant<AdminAlerts>, AlertIntegration), Failure> {
    let class = match kind {
        IntegrationKind::Http => CLASSES[0],
        IntegrationKind::Prometheus => CLASSES[1],
    };
    let id = AlertIntegrationId(input.gid("id", &[class, "PrometheusService"])?);
    let read = context.forge.db.read(move |tx| tx.any_alert_integration(id)).await;
    let row = read.map_err(failure_of)?.filter(|row| row.kind == kind);
    let row = row.ok_or(Failure::NotFoundOrForbidden)?;
    let home = located_project::expect(context, row.project_id).await?;
    let grant = home.grant::<AdminAlerts>().map_err(failure_of)?;
    Ok((home, grant, row))
}

fn mappings(input: &Arguments) -> Result<Option<Mappings>, Failure> {
    if input.maybe_texts("payloadAttributeMappings").is_none() {
        return Ok(None);
    }
    let mut all: Mappings = BTreeMap::new();
    for one in input.objects("payloadAttributeMappings") {
        let name = one.text("fieldName")?.to_lowercase();
        if let Some(field) = AlertField::find(&name) {
            all.insert(field, mapping(&one));
        }
    }
    Ok(Some(all))
}

fn mapping(one: &Arguments) -> Mapping {
    let kind = value_of(one.maybe_enum("type")).unwrap_or(MappedType::Text);
    Mapping { path: segments(one), kind, label: one.maybe_text("label") }
}

/// The keys and places in lists of a path.
fn segments(one: &Arguments) -> Vec<String> {
    let given = one.json("path").unwrap_or_default();
    let parts = given.as_array().cloned().unwrap_or_default().into_iter();
    parts.map(|part| part.as_str().map_or_else(|| part.to_string(), str::to_owned)).collect()
}

fn payload(
    context: &Context,
    home: &LocatedProject,
    written: SavedIntegration,
) -> Result<Payload, Failure> {
    Ok(match done(written)? {
        Ok((row, url)) => {
            let shown = value(context, home, &row, url.as_deref()).map_err(failure_of)?;
            Payload::new().field("integration", shown)
        }
        Err(errors) => Payload::errors(errors),
    })
}

type SavedIntegration = KernelResult<(AlertIntegration, Option<String>)>;

/// Sets the address of the project's Prometheus server.
fn set_url(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminAlerts>,
    (vault, rule): (&Vault, &impl admin::integration::UrlRule),
    url: &str,
) -> KernelResult<()> {
    let keeper = grant.also::<AdminIntegrations>()?;
    let Some(kind) = Kind::find("prometheus") else { return Ok(()) };
    let mut values = Values::new();
    values.insert("api_url".to_owned(), Json::String(url.to_owned()));
    let change = ServiceChange { values, ..ServiceChange::default() };
    match integrations::set(tx, &keeper, (vault, rule), &[], kind, &change) {
        // The address is all that was given, so it alone can be wrong.
        Err(refused) if refused.kind == ErrorKind::BadRequest => {
            Err(Error::invalid("api_url", "is not a valid or allowed URL"))
        }
        set => set.map(drop),
    }
}

async fn create(
    input: &Arguments,
    context: &Context,
    kind: IntegrationKind,
) -> Result<Payload, Failure> {
    let home = located_project::at(context, input.text("projectPath")?).await?;
    let grant = home.grant::<AdminAlerts>().map_err(failure_of)?;
    let new = NewIntegration {
        kind,
        name: input.maybe_text("name").unwrap_or_else(|| PROMETHEUS.to_owned()),
        active: input.flag("active"),
        mappings: mappings(input)?.unwrap_or_default(),
        payload_example: input.maybe_text("payloadExample"),
    };
    let url = input.maybe_text("apiUrl");
    let (vault, rule) = (context.forge.vault.clone(), context.forge.courier.rules.web());
    let written = context.forge.db.write(move |tx| {
        if let Some(url) = &url {
            set_url(tx, &grant, (&vault, &rule), url)?;
        }
        Ok((actions::create(tx, &grant, &vault, &new)?, url))
    });
    payload(context, &home, written.await)
}

async fn update(
    input: &Arguments,
    context: &Context,
    kind: IntegrationKind,
) -> Result<Payload, Failure> {
    let (home, grant, row) = named(input, context, kind).await?;
    let change = IntegrationChange {
        name: input.maybe_text("name"),
        active: input.maybe_bool("active"),
        mappings: mappings(input)?,
        payload_example: input.maybe_text("payloadExample"),
    };
    let url = input.maybe_text("apiUrl");
    let (vault, rule) = (context.forge.vault.clone(), context.forge.courier.rules.web());
    let written = context.forge.db.write(move |tx| {
        if let Some(url) = &url {
            set_url(tx, &grant, (&vault, &rule), url)?;
        }
        let row = actions::update(tx, &grant, row.id, &change)?;
        let url = prometheus_url(tx, grant.project())?;
        Ok((row, url))
    });
    payload(context, &home, written.await)
}

async fn reset_token(
    input: &Arguments,
    context: &Context,
    kind: IntegrationKind,
) -> Result<Payload, Failure> {
    let (home, grant, row) = named(input, context, kind).await?;
    let vault = context.forge.vault.clone();
    let written = context.forge.db.write(move |tx| {
        let row = actions::reset_key(tx, &grant, &vault, row.id)?;
        Ok((row, prometheus_url(tx, grant.project())?))
    });
    payload(context, &home, written.await)
}
