//! The `forgeway` command.

#[actix_web::main]
async fn main() -> anyhow::Result<()> {
    gateway::commands::run().await
}
