//! What the installation is set to.

use std::borrow::Cow;

use kernel::{Ts, ids::NamespaceId};
use org::settings::table::{self, ALIASES, Form, Preset, Secrecy};
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr,
        schema::{ArrayBuilder, ObjectBuilder, Schema, SchemaType, Type},
    },
};

use crate::limits::Limits;

/// All settings by their names, with the aliases that answers have.
#[derive(Debug, Serialize)]
pub struct SettingsEntity(Map<String, Value>);

impl SettingsEntity {
    /// Limits that nobody has set are those of the server's configuration.
    pub fn new(document: Map<String, Value>, (created, updated): (Ts, Ts), limits: Limits) -> Self {
        let mut shown = Map::new();
        shown.insert("id".to_owned(), json!(1));
        shown.insert("created_at".to_owned(), json!(created));
        shown.insert("updated_at".to_owned(), json!(updated));
        let hidden = |name: &str| {
            table::find(name).is_some_and(|setting| setting.secrecy == Secrecy::WriteOnly)
        };
        shown.extend(document.into_iter().filter(|(name, _)| !hidden(name)));
        let mut entity = Self(shown);
        entity.add_configured(limits);
        entity.add_older_names();
        entity
    }

    fn get(&self, name: &str) -> Value {
        self.0.get(name).cloned().unwrap_or_default()
    }

    fn add_configured(&mut self, limits: Limits) {
        let configured = [
            ("issues_create_limit", limits.issues_per_minute.into()),
            ("notes_create_limit", limits.notes_per_minute.into()),
            ("users_get_by_id_limit", limits.people_per_ten_minutes.into()),
            ("max_attachment_size", limits.upload >> 20),
        ];
        for (name, value) in configured {
            if self.get(name).is_null() {
                self.0.insert(name.to_owned(), value.into());
            }
        }
    }

    /// Adds the group that may see how long requests take.
    pub fn with_group(mut self, group: Option<NamespaceId>) -> Self {
        let id = group.map_or(Value::Null, |group| group.0.into());
        self.0.insert("performance_bar_allowed_group_id".to_owned(), id);
        self
    }

    fn add_older_names(&mut self) {
        for alias in ALIASES.iter().filter(|alias| alias.shown) {
            let value = self.get(alias.of);
            self.0.insert(alias.name.to_owned(), value);
        }
        let weights = self.get("repository_storages_weighted");
        let storages: Vec<&String> =
            weights.as_object().into_iter().flatten().map(|(name, _)| name).collect();
        self.0.insert("repository_storages".to_owned(), json!(storages));
        // A number that a client computes with, sent as text.
        let multiplier = self.get("polling_interval_multiplier").as_f64().unwrap_or(1.0);
        let multiplier = format!("{multiplier:?}");
        self.0.insert("polling_interval_multiplier".to_owned(), multiplier.into());
        for fixed in ["hashed_storage_enabled", "housekeeping_bitmaps_enabled"] {
            self.0.insert(fixed.to_owned(), true.into());
        }
    }
}

impl ToSchema for SettingsEntity {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("SettingsEntity")
    }
}

impl PartialSchema for SettingsEntity {
    fn schema() -> RefOr<Schema> {
        let whole = |kind: Type| RefOr::T(Schema::from(ObjectBuilder::new().schema_type(kind)));
        let mut object = ObjectBuilder::new()
            .property("id", whole(Type::Integer))
            .property("created_at", whole(Type::String))
            .property("updated_at", whole(Type::String));
        let open = table::all().filter(|setting| setting.secrecy != Secrecy::WriteOnly);
        for setting in open {
            object = object.property(setting.name, property(setting));
        }
        for alias in ALIASES.iter().filter(|alias| alias.shown) {
            if let Some(setting) = table::find(alias.of) {
                object = object.property(alias.name, property(setting));
            }
        }
        RefOr::T(Schema::from(object))
    }
}

fn property(setting: &table::Setting) -> RefOr<Schema> {
    let kind = match setting.form {
        Form::Switch => Type::Boolean,
        Form::Whole { .. } | Form::Number(_) => Type::Integer,
        Form::Decimal { .. } if setting.default == Preset::Decimal(1.0) => Type::String,
        Form::Decimal { .. } => Type::Number,
        Form::Switches(_) | Form::Weights => Type::Object,
        Form::List { .. } | Form::Choices(_) | Form::Levels => return list(Type::String),
        Form::Ids => return list(Type::Integer),
        Form::Text { .. } | Form::Url | Form::Email | Form::Pattern | Form::Choice { .. } => {
            Type::String
        }
    };
    let kind = match table::default(setting.name).is_null() {
        true => SchemaType::from_iter([kind, Type::Null]),
        false => SchemaType::from(kind),
    };
    RefOr::T(Schema::from(ObjectBuilder::new().schema_type(kind)))
}

fn list(of: Type) -> RefOr<Schema> {
    let items = ObjectBuilder::new().schema_type(of);
    RefOr::T(Schema::from(ArrayBuilder::new().items(items)))
}
