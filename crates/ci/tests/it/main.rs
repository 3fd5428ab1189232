//! What the crate promises: the language against cases that are data, and pipelines against a database. Other domains are
//! fakes.

mod archive;
mod bombs;
mod composite;
mod config;
mod edges;
mod files;
mod fuzz;
mod generator;
mod include;
mod jobs;
mod junit;
mod needs;
mod pipelines;
mod resource_groups;
mod schedules;
mod templates;
mod world;
