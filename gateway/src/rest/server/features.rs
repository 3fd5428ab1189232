//! Feature flags of the installation.

use admin::feature::{
    FeatureName,
    actions::{self, Setting, Targets},
};
use db::Tx;
use entities::server::feature::{FeatureDefinition, FeatureEntity};
use kernel::{Error, Result, access::Administrate};
use org::{
    namespace::{Kind, store::NamespaceStore as _},
    project::store::ProjectStore as _,
    user::store::UserStore as _,
};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Csv, Param, ParamErrors, Raw, params::INVALID},
    param_enums, params,
    present::{Created, Json, NoContent},
    routes,
};

routes! { "Features" at "/features";
    GET    ""             => list        : Administrate,
    GET    "/definitions" => definitions : Administrate,
    POST   "/{name}"      => set         : Administrate,
    DELETE "/{name}"      => remove      : Administrate,
}

kernel::text_enum! {
    /// Of whom a percentage is meant.
    pub enum PercentageKey { Actors = "percentage_of_actors", Time = "percentage_of_time" }
}

param_enums! { PercentageKey }

async fn list(app: App, call: Call<Administrate>) -> ApiResult<Json<Vec<FeatureEntity>>> {
    let grant = call.grant;
    let features = app.db.read(move |tx| actions::list(tx, &grant)).await?;
    Ok(Json(features.into_iter().map(FeatureEntity::from).collect()))
}

/// Nothing here depends on a flag.
async fn definitions(_: App, _: Call<Administrate>) -> ApiResult<Json<Vec<FeatureDefinition>>> {
    Ok(Json(Vec::new()))
}

/// The name of a feature in an address.
#[derive(Clone, Debug)]
pub struct NameParam(FeatureName);

impl Param for NameParam {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let Some(text) = String::read(raw)? else { return Ok(None) };
        let name = FeatureName::parse(&text).ok_or_else(|| ParamErrors::one(INVALID))?;
        Ok(Some(Self(name)))
    }

    fn schema() -> serde_json::Value {
        String::schema()
    }
}

/// `true`, `false`, or a percentage.
#[derive(Clone, Copy, Debug)]
pub enum FeatureValue {
    Switch(bool),
    Percentage(i64),
}

impl Param for FeatureValue {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let text = String::read(raw)?.unwrap_or_default();
        let whole = text.trim().parse::<f64>().ok().filter(|number| (0.0..=100.0).contains(number));
        match text.trim() {
            "true" => Ok(Some(Self::Switch(true))),
            "false" => Ok(Some(Self::Switch(false))),
            _ => match (whole, text.trim().split('.').next().and_then(|it| it.parse().ok())) {
                (Some(_), Some(percentage)) => Ok(Some(Self::Percentage(percentage))),
                _ => Err(ParamErrors::one(INVALID)),
            },
        }
    }

    fn schema() -> serde_json::Value {
        serde_json::json!({ "type": "string", "examples": ["true"] })
    }
}

params! {
    pub struct SetFeature {
        name: NameParam,
        /// `true`, `false`, or a percentage from 0 to 100.
        value: FeatureValue,
        /// What a percentage counts. Default: `percentage_of_time`.
        key: Option<PercentageKey>,
        /// Name of a feature group.
        feature_group: Option<String>,
        /// User names.
        user: Option<Csv<String>>,
        /// Paths of groups.
        group: Option<Csv<String>>,
        /// Paths of groups or personal namespaces.
        namespace: Option<Csv<String>>,
        /// Paths of projects.
        project: Option<Csv<String>>,
        /// Paths of projects whose repositories are meant.
        repository: Option<Csv<String>>,
        /// Whether to take a name without a definition. There are no definitions, so every name is taken in either case.
        force: Option<bool>,
    } with
        exclusive("key", "feature_group"),
        exclusive("key", "user"),
        exclusive("key", "group"),
        exclusive("key", "namespace"),
        exclusive("key", "project"),
        exclusive("key", "repository");
}

impl SetFeature {
    fn setting(&self) -> Setting {
        match (self.value, self.key) {
            (FeatureValue::Switch(true), _) => Setting::On,
            (FeatureValue::Switch(false), _) => Setting::Off,
            (FeatureValue::Percentage(part), Some(PercentageKey::Actors)) => {
                Setting::PercentageOfActors(part)
            }
            (FeatureValue::Percentage(part), _) => Setting::PercentageOfTime(part),
        }
    }

    /// Whom the names mean.
    fn targets(&self, tx: &mut Tx<'_>) -> Result<Targets> {
        let mut actors = Vec::new();
        for name in names(&self.user) {
            let user = tx.find_user_named(name)?.ok_or_else(|| absent(name))?;
            actors.push(format!("User:{}", user.id));
        }
        for path in names(&self.group) {
            let found = tx.find_namespace_at(path)?.filter(|found| found.kind == Kind::Group);
            actors.push(format!("Group:{}", found.ok_or_else(|| absent(path))?.id));
        }
        for path in names(&self.namespace) {
            let found = tx.find_namespace_at(path)?.ok_or_else(|| absent(path))?;
            let kind =
                if found.kind == Kind::Group { "Group" } else { "Namespaces::UserNamespace" };
            actors.push(format!("{kind}:{}", found.id));
        }
        for (kind, paths) in [("Project", &self.project), ("Repository", &self.repository)] {
            for path in names(paths) {
                let found = tx.find_project_at(path)?.ok_or_else(|| absent(path))?;
                actors.push(format!("{kind}:{}", found.id));
            }
        }
        let group = self.feature_group.iter().filter(|group| !group.trim().is_empty());
        Ok(Targets { actors, groups: group.cloned().collect() })
    }
}

fn names(given: &Option<Csv<String>>) -> impl Iterator<Item = &String> {
    given.iter().flat_map(|names| &names.0)
}

fn absent(name: &str) -> Error {
    Error::bad_request().whole(format!("{name} is not found!"))
}

async fn set(app: App, call: Call<Administrate, SetFeature>) -> ApiResult<Created<FeatureEntity>> {
    let (grant, given) = (call.grant, call.params);
    let set = app.db.write(move |tx| {
        let targets = given.targets(tx)?;
        actions::set(tx, &grant, &given.name.0, given.setting(), &targets)
    });
    Ok(Created(set.await?.into()))
}

params! {
    pub struct OneFeature {
        name: NameParam,
    }
}

async fn remove(app: App, call: Call<Administrate, OneFeature>) -> ApiResult<NoContent> {
    let (grant, name) = (call.grant, call.params.name.0);
    app.db.write(move |tx| actions::remove(tx, &grant, &name)).await?;
    Ok(NoContent)
}
