// Talking with the server: requests with JSON answers, and the stream of events.

/** Ask the server; throws its own sentence when it refuses. */
export async function ask(path, body, headers = { "content-type": "application/json" }) {
  const options = body === undefined ? {} : { method: "POST", headers, body };
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("The server cannot be reached.");
  }
  if (response.status === 401) location.assign("./"); // where the token is asked for
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

const named = (name) => `learner=${encodeURIComponent(name)}`;

export const learners = async () => (await ask("learners")).learners;
export const inbox = (name) => ask(`learners/${encodeURIComponent(name)}/inbox?limit=200`);
export const stats = (name) => ask(`stats?${named(name)}`);
export const teach = (learner, id, label) => ask("teach", JSON.stringify({ learner, id, label }));
export const undo = (learner) => ask("undo", JSON.stringify({ learner }));
export const add = (file) => ask("predict", file, { "content-type": "message/rfc822" });

/** Call `changed` at first and whenever something changed, and `told` with whether there is a connection. */
export function listen(name, changed, told) {
  const source = new EventSource(`events?${named(name)}`);
  source.addEventListener("counts", changed);
  source.addEventListener("open", () => told(true));
  source.addEventListener("error", () => told(false));
  return source;
}
