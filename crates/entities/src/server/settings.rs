//! The application settings.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, PoisonError},
};

use kernel::{Ts, ids::NamespaceId};
use org::settings::{
    Settings,
    table::{self, ALIASES, Form, Preset, Secrecy},
};
use serde::{Serialize, Serializer};
use serde_json::{
    Map, Value, json,
    value::{RawValue, to_raw_value},
};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr,
        schema::{ArrayBuilder, ObjectBuilder, Schema, SchemaType, Type},
    },
};

/// Limits of the server's configuration, which hold where no setting says otherwise.
#[derive(Clone, Copy, Debug)]
pub struct ConfiguredLimits {
    pub issues_per_minute: u32,
    pub notes_per_minute: u32,
    pub people_per_ten_minutes: u32,
}

/// All settings by their names, with the aliases that answers have, written down.
#[derive(Clone, Debug)]
pub struct SettingsEntity(Arc<RawValue>);

impl Serialize for SettingsEntity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl SettingsEntity {
    /// Limits that nobody has set are those of the server's configuration; `group` may see how long requests take.
    ///
    /// # Errors
    /// Where a value cannot be written as JSON.
    pub fn new(
        document: Map<String, Value>,
        (created, updated): (Ts, Ts),
        limits: ConfiguredLimits,
        group: Option<NamespaceId>,
    ) -> kernel::Result<Self> {
        let mut shown = Map::new();
        shown.insert("id".to_owned(), json!(1));
        shown.insert("created_at".to_owned(), json!(created));
        shown.insert("updated_at".to_owned(), json!(updated));
        let hidden = |name: &str| {
            table::find(name).is_some_and(|setting| setting.secrecy == Secrecy::WriteOnly)
        };
        shown.extend(document.into_iter().filter(|(name, _)| !hidden(name)));
        let mut record = SettingsRecord(shown);
        record.add_configured(limits);
        record.add_older_names();
        record.add_group(group);
        let written = to_raw_value(&record.0).map_err(kernel::Error::internal)?;
        Ok(Self(Arc::from(written)))
    }
}

/// The settings as they were last shown.
#[derive(Default)]
pub struct ShownSettings(Mutex<Option<(Arc<Settings>, SettingsEntity)>>);

impl ShownSettings {
    pub fn get(&self, current: &Arc<Settings>) -> Option<SettingsEntity> {
        let shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (of, entity) = shown.as_ref()?;
        Arc::ptr_eq(of, current).then(|| entity.clone())
    }

    pub fn keep(&self, of: Arc<Settings>, shown: SettingsEntity) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((of, shown));
    }
}

/// The settings while they are gathered.
struct SettingsRecord(Map<String, Value>);

impl SettingsRecord {
    fn get(&self, name: &str) -> Value {
        self.0.get(name).cloned().unwrap_or_default()
    }

    fn add_configured(&mut self, limits: ConfiguredLimits) {
        let configured = [
            ("issues_create_limit", limits.issues_per_minute),
            ("notes_create_limit", limits.notes_per_minute),
            ("users_get_by_id_limit", limits.people_per_ten_minutes),
        ];
        for (name, value) in configured {
            if self.get(name).is_null() {
                self.0.insert(name.to_owned(), value.into());
            }
        }
    }

    /// Adds the group that may see how long requests take.
    fn add_group(&mut self, group: Option<NamespaceId>) {
        let id = group.map_or(Value::Null, |group| group.0.into());
        self.0.insert("performance_bar_allowed_group_id".to_owned(), id);
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
