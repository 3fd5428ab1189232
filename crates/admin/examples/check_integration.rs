//! Says what is wrong with the settings of an integration before anybody sends them:
//! `cargo run -p forgeway-admin --example check_integration -- [slug settings.json]`.
//!
//! The table of kinds is that of the product. Without arguments it lists all kinds, and checks a sample.
#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use std::{env, error::Error, fs};

use admin::integration::{Kind, Values};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut given = env::args().skip(1);
    if let (Some(slug), Some(file)) = (given.next(), given.next()) {
        let settings: Values = serde_json::from_str(&fs::read_to_string(file)?)?;
        let kind = Kind::find(&slug).ok_or("there is no integration of this name")?;
        for complaint in complaints(kind, &settings) {
            println!("{complaint}");
        }
        return Ok(());
    }
    for kind in Kind::all() {
        let required = kind.parameters.iter().filter(|parameter| parameter.required);
        let names: Vec<&str> = required.map(|parameter| parameter.name).collect();
        println!("{} ({}): {}", kind.slug, kind.title, names.join(", "));
    }
    check_sample()
}

/// What the server would refuse, and what it would not know.
fn complaints(kind: &Kind, settings: &Values) -> Vec<String> {
    let value = |name: &str| settings.get(name).unwrap_or(&Value::Null);
    let refused = kind.parameters.iter().filter(|parameter| {
        let other = parameter.alias.map_or(&Value::Null, value);
        let value = if value(parameter.name).is_null() { other } else { value(parameter.name) };
        !parameter.takes(value)
    });
    let is_known = |name: &str| {
        kind.parameters.iter().any(|one| one.name == name || one.alias == Some(name))
            || kind.events.iter().any(|event| event.to_string() == name)
    };
    let unknown = settings.keys().filter(|name| !is_known(name));
    let refused = refused.map(|parameter| match value(parameter.name) {
        Value::Null => format!("{} is missing", parameter.name),
        _ => format!("{} is invalid", parameter.name),
    });
    refused.chain(unknown.map(|name| format!("{name} is not known"))).collect()
}

fn check_sample() -> Result<(), Box<dyn Error>> {
    let kind = Kind::find("bamboo").ok_or("there is Bamboo")?;
    let sample = json!({ "bamboo_url": "ci.example.com", "build_key": "KEY", "username": "ci",
        "color": "green" });
    let found = complaints(kind, sample.as_object().ok_or("an object")?);
    println!("bamboo: {}", found.join("; "));
    assert_eq!(found, ["bamboo_url is invalid", "password is missing", "color is not known"]);
    Ok(())
}
