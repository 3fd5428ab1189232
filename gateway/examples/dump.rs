//! Writes what the gateway says about itself, into the folder it is given: `openapi.json`, `routes.txt`, and the GraphQL
//! schema as `schema.graphql` and as the answer to introspection, `schema.json`.

use std::{error::Error, fs, path::PathBuf};

use gateway::{openapi, rest};

fn main() -> Result<(), Box<dyn Error>> {
    let folder =
        PathBuf::from(std::env::args_os().nth(1).ok_or("the folder to write to is missing")?);
    let document = serde_json::to_string_pretty(&openapi::document(&rest::described()))?;
    fs::write(folder.join("openapi.json"), document + "\n")?;
    fs::write(folder.join("routes.txt"), routes())?;
    let schema = resolvers::registry().build().map_err(|mistakes| mistakes.join("\n"))?;
    fs::write(folder.join("schema.graphql"), schema.sdl())?;
    let introspection = serde_json::to_string_pretty(&schema.introspection())?;
    fs::write(folder.join("schema.json"), introspection + "\n")?;
    Ok(())
}

/// One route a line: method, path, what the caller must be able to do, and on what.
fn routes() -> String {
    let mut lines = Vec::new();
    for row in rest::tables().into_iter().flatten() {
        let caller = if row.open { "anyone" } else { "signed in" };
        let path = row.full_pattern();
        lines.push((
            path.clone(),
            format!("{:6} {path:88} {:24} {:10} {caller}\n", row.method, row.ability, row.scope),
        ));
    }
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect()
}
