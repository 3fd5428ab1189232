//! Parameters of integrations: which ones there are, the table of kinds says.

use std::collections::BTreeMap;

use admin::{
    flags::Flag,
    integration::{Kind, Parameter, ParameterType, actions::IntegrationChange},
};
use kernel::{TextEnum as _, ids::IntegrationId};
use serde_json::{Value, json};

use crate::{
    extract::{
        Param, ParamErrors, Params, Raw, RawMap,
        params::{MISSING, NOT_LISTED, ParamDoc, field},
    },
    params,
};

/// A kind, by its slug in either spelling.
#[derive(Clone, Copy, Debug)]
pub struct Slug(pub &'static Kind);

impl Param for Slug {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let Some(text) = String::read(raw)? else { return Ok(None) };
        let found = Kind::find(&text).map(|kind| Some(Self(kind)));
        found.ok_or(ParamErrors::one(NOT_LISTED))
    }

    fn schema() -> Value {
        let slugs: Vec<&str> = Kind::all().iter().map(|kind| kind.slug).collect();
        json!({ "type": "string", "enum": slugs })
    }
}

params! {
    pub struct OneIntegration {
        slug: Slug,
    }
}

/// What of an integration is to be. Its parameters are those of its kind.
#[derive(Clone, Debug)]
pub struct SetIntegration {
    pub kind: &'static Kind,
    pub change: IntegrationChange,
}

/// The events that can be switched on and off.
fn is_event(flag: Flag) -> bool {
    !matches!(flag, Flag::ArchivedTraces)
}

fn value_of(
    name: &'static str,
    kind: ParameterType,
    raw: &Raw,
    flaws: &mut ParamErrors,
) -> Option<Value> {
    let read = match kind {
        ParameterType::Text => String::read(raw).map(|value| json!(value)),
        ParameterType::Bool => bool::read(raw).map(|value| json!(value)),
        ParameterType::Integer => i64::read(raw).map(|value| json!(value)),
    };
    match read {
        Ok(value) => Some(value),
        Err(inner) => {
            flaws.add_under(name, inner);
            None
        }
    }
}

/// What came for a parameter, under either of its names.
fn given<'r>(parameter: &Parameter, raw: &'r RawMap) -> Option<&'r Raw> {
    raw.get(parameter.name).or_else(|| parameter.alias.and_then(|name| raw.get(name)))
}

fn read_change(
    parameters: &[Parameter],
    raw: &RawMap,
    flaws: &mut ParamErrors,
) -> IntegrationChange {
    let mut change = IntegrationChange::default();
    for parameter in parameters {
        let given = given(parameter, raw);
        let value = given.and_then(|raw| value_of(parameter.name, parameter.kind, raw, flaws));
        if let Some(value) = value {
            change.values.insert(parameter.name.to_owned(), value);
        }
    }
    for flag in Flag::ALL.iter().copied().filter(|flag| is_event(*flag)) {
        if let Some(Some(on)) = field::<Option<bool>>(raw, flag.as_str(), None, flaws) {
            change.flags.push((flag, on));
        }
    }
    change.inherits = field(raw, "use_inherited_settings", None, flaws).flatten();
    change.inherits_from = raw
        .has("inherit_from_id")
        .then(|| field::<Option<IntegrationId>>(raw, "inherit_from_id", None, flaws).flatten());
    change
}

/// Parameters of other kinds mean nothing here; their types are looked at all the same, as the document says.
fn check_other_kinds(own: &[Parameter], raw: &RawMap, flaws: &mut ParamErrors) {
    for (name, (parameter, _)) in all_parameters() {
        let is_own = own.iter().any(|one| one.name == name || one.alias == Some(name));
        if let Some(value) = raw.get(name).filter(|_| !is_own) {
            value_of(name, parameter, value, flaws);
        }
    }
}

/// The parameters of all kinds by their names, each with the kinds that have it.
fn all_parameters() -> BTreeMap<&'static str, (ParameterType, Vec<&'static str>)> {
    let mut all: BTreeMap<_, (ParameterType, Vec<_>)> = BTreeMap::new();
    for kind in Kind::all() {
        for one in kind.parameters {
            for name in [Some(one.name), one.alias].into_iter().flatten() {
                all.entry(name).or_insert((one.kind, Vec::new())).1.push(kind.slug);
            }
        }
    }
    all
}

impl Params for SetIntegration {
    const PAGED: bool = false;

    fn read(raw: &RawMap) -> Result<Self, ParamErrors> {
        let mut flaws = ParamErrors::default();
        let Some(kind) = raw.text("slug").and_then(Kind::find) else {
            flaws.add("slug", NOT_LISTED);
            return Err(flaws);
        };
        let parameters = kind.parameters;
        check_other_kinds(parameters, raw, &mut flaws);
        let change = read_change(parameters, raw, &mut flaws);
        if !change.asks_to_inherit() {
            let missing = kind.missing(|one| given(one, raw).is_some());
            missing.iter().for_each(|one| flaws.add(one.name, MISSING));
        }
        let names: Vec<&str> = parameters.iter().map(|one| one.name).collect();
        if flaws.is_empty() { Ok(Self { kind, change }) } else { Err(flaws.in_order_of(&names)) }
    }

    /// Each kind has a route of its own.
    fn has_route(in_path: &[(&'static str, Raw)]) -> bool {
        let is_known = |value: &Raw| matches!(value, Raw::Text(slug) if Kind::find(slug).is_some());
        in_path.iter().any(|(name, value)| *name == "slug" && is_known(value))
    }

    fn describe() -> Vec<ParamDoc> {
        let doc = |name, required, schema, text: &str| ParamDoc {
            name,
            required,
            schema,
            text: text.to_owned(),
        };
        let slugs: Vec<&str> = Kind::all().iter().map(|kind| kind.slug).collect();
        let slugs = format!("Kind of the integration: {}.", slugs.join(", "));
        let mut all = vec![doc("slug", true, String::schema(), &slugs)];
        for (name, (kind, kinds)) in all_parameters() {
            let schema = match kind {
                ParameterType::Text => String::schema(),
                ParameterType::Bool => bool::schema(),
                ParameterType::Integer => i64::schema(),
            };
            all.push(doc(
                name,
                false,
                schema,
                &format!("Setting of the integration {}.", kinds.join(", ")),
            ));
        }
        for flag in Flag::ALL.iter().copied().filter(|flag| is_event(*flag)) {
            all.push(doc(flag.as_str(), false, bool::schema(), ""));
        }
        let text = "Whether to inherit the settings of the ancestor group or instance.";
        all.push(doc("use_inherited_settings", false, bool::schema(), text));
        let text = "ID of the integration of an ancestor group or the instance whose settings to inherit; null for \
                    own settings. Wins over `use_inherited_settings`.";
        all.push(doc("inherit_from_id", false, i64::schema(), text));
        all
    }

    fn defaults() -> Vec<(&'static str, String)> {
        Vec::new()
    }
}
