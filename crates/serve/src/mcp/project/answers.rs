//! The answers of the tools: the JSON of the command of the same name, and a text for the model.

use std::path::Path;
use std::sync::Arc;

use brief_checks::lint::{Lint, UncheckedPath};
use brief_engine::search::SearchReport;
use brief_engine::sees::{Sees, SeesReport, asked_clients};
use brief_engine::tokens::Counter;
use brief_engine::{Briefing, BriefingRequest, Project, structured};
use brief_syntax::render::Envelope;
use brief_system::{Recorded, Remembered, System};
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::kept::Question;
use super::offers::Offers;
use super::question::{
    DecisionsArguments, LintArguments, MOST_RESULTS, MomentArguments, SearchArguments,
    SeesArguments, parse_arguments, unknown_client,
};
use super::tools::ProjectTool;
use super::{SharedProject, text};
use brief_workflows::configuration::ProjectAndSource;
use brief_workflows::delivery::find_viewers;

/// The answer of a tool.
#[derive(Debug, Clone)]
pub(super) struct ToolAnswer {
    /// The text for the model.
    pub(super) text: String,
    /// The whole answer, in the shape of `--json`.
    pub(super) json: Json,
}

impl ToolAnswer {
    fn new<B: Serialize>(text: String, envelope: &Envelope<'_, B>) -> Result<ToolAnswer, String> {
        let json = serde_json::to_value(envelope).map_err(|error| error.to_string())?;
        Ok(ToolAnswer { text, json })
    }
}

impl SharedProject {
    /// Answers a call. The error is a message for the model.
    pub(super) fn answer_call(
        &self,
        tool: ProjectTool,
        arguments: Map<String, Json>,
        offers: Option<&Offers>,
    ) -> Result<Arc<ToolAnswer>, String> {
        let system = Arc::clone(&self.system);
        if !matches!(tool, ProjectTool::Context | ProjectTool::Why | ProjectTool::Decisions) {
            return self.find_answer(system, tool, arguments, offers).map(Arc::new);
        }
        let question = Question::new(tool, &arguments);
        if let Some(answer) = self.kept.get(&question, self.system.as_ref()) {
            return Ok(answer);
        }
        let recorded = Arc::new(Recorded::new(system));
        let through = Arc::clone(&recorded) as Arc<dyn System>;
        let answer = Arc::new(self.find_answer(through, tool, arguments, offers)?);
        if let Some(record) = Arc::into_inner(recorded).and_then(Recorded::finish) {
            self.kept.insert(question, record, Arc::clone(&answer));
        }
        Ok(answer)
    }

    fn find_answer(
        &self,
        system: Arc<dyn System>,
        tool: ProjectTool,
        arguments: Map<String, Json>,
        offers: Option<&Offers>,
    ) -> Result<ToolAnswer, String> {
        // Each path is resolved once for one question.
        let system = Remembered::new(system);
        let directory = &self.options.directory;
        let unopened = |error: std::io::Error| {
            format!("cannot open directory `{}`: {error}", directory.display())
        };
        match tool {
            ProjectTool::Context | ProjectTool::Why => {
                let project = Project::open(&system, directory).map_err(unopened)?;
                let arguments: MomentArguments = parse_arguments(arguments)?;
                let briefing = arguments.create_request(&project, &self.options)?.resolve();
                let text = match tool {
                    ProjectTool::Context => text::render_context(&briefing, &self.mark),
                    _ => text::render_reasons(&briefing),
                };
                create_briefing_answer(tool, text, &briefing)
            }
            ProjectTool::Decisions => {
                let project = Project::open(&system, directory).map_err(unopened)?;
                let DecisionsArguments { path } = parse_arguments(arguments)?;
                let mut briefing = project.briefing(path).only([structured::NAME]).resolve();
                briefing.keep_decisions();
                create_briefing_answer(tool, text::render_decisions(&briefing), &briefing)
            }
            ProjectTool::Show => {
                let project = Project::open(&system, directory).map_err(unopened)?;
                answer_sees(&project, parse_arguments(arguments)?)
            }
            ProjectTool::Search => {
                let SearchArguments { query, limit } = parse_arguments(arguments)?;
                let offers = offers.ok_or("the project is still loading; try again")?;
                let items = offers.index.find_hits(&query, limit.clamp(1, MOST_RESULTS));
                let text = text::render_search(&query, &items);
                let body = SearchReport { query: &query, items };
                let (kind, root) = (tool.kind(), offers.root.as_path());
                ToolAnswer::new(text, &Envelope { kind, root, diagnostics: &[], body })
            }
            ProjectTool::Lint => {
                let project = Project::open(&system, directory).map_err(unopened)?;
                let LintArguments { path } = parse_arguments(arguments)?;
                let lint = Lint::new(&project, &path)
                    .map_err(|problem| render_unchecked(&problem, &path))?;
                let mut found = lint.configured_by(&ProjectAndSource).check();
                found.group_causes();
                let root = project.root().path();
                let text = text::render_findings(&found, root);
                let (kind, diagnostics) = (tool.kind(), found.diagnostics.as_slice());
                ToolAnswer::new(text, &Envelope { kind, root, diagnostics, body: &found })
            }
        }
    }
}

fn answer_sees(project: &Project<'_>, asked: SeesArguments) -> Result<ToolAnswer, String> {
    let request: BriefingRequest<'_> = asked.create_request(project)?;
    let (catalog, moment) = (request.read_catalog(), &request.moment);
    let root = moment.root.path();
    let clients = asked_clients(project.system(), root, asked.clients);
    let clients = clients.map_err(|error| unknown_client(&error))?;
    let viewers = find_viewers(project.system(), root, moment, &clients);
    let counter = Counter::estimate();
    let sees = Sees::from_catalog(&catalog, root, &viewers, &|text: &str| counter.count(text));
    let diagnostics = catalog.diagnostics();
    let text = text::render_sees(root, &viewers, &sees);
    let body = SeesReport { moment, viewers: &viewers, sees: &sees };
    let kind = ProjectTool::Show.kind();
    ToolAnswer::new(text, &Envelope { kind, root, diagnostics: &diagnostics, body })
}

fn create_briefing_answer(
    tool: ProjectTool,
    text: String,
    briefing: &Briefing,
) -> Result<ToolAnswer, String> {
    let (kind, root, diagnostics) = (tool.kind(), briefing.root(), &briefing.diagnostics);
    ToolAnswer::new(text, &Envelope { kind, root, diagnostics, body: briefing })
}

fn render_unchecked(problem: &UncheckedPath, path: &Path) -> String {
    let path = path.display();
    match problem {
        UncheckedPath::Outside => format!("`{path}` is outside the project"),
        UncheckedPath::Missing => format!("`{path}` does not exist"),
    }
}
