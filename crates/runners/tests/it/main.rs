//! The rules of runners against a database. Roles are a fake.

mod matching;
mod registration;
mod tokens;
mod world;
