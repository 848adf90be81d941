"use strict";

// The browser sends the session's cookie. Without a valid one the user is sent to the sign-in page.
async function ask(request) {
  const answer = await fetch("/graphql", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ query: request.query, variables: request.variables, operationName: request.operationName }),
  });
  if (answer.status === 401) {
    location.assign("/sign-in?next=/playground");
  }
  return answer.json();
}

const firstQuestion = `# Operators may ask for every entity and run every procedure; a procedure needs a reason, and is audited.
# Control and Enter run this; the book on the left holds the schema.
query Agents {
  bots(first: 10, orderBy: [{field: CREATED_AT, direction: DESC}]) {
    totalCount
    edges {
      node {
        id
        handle
        displayName
        state
        createdAt
      }
    }
  }
  settings {
    registrationMode
    feeBps
  }
}
`;

ReactDOM.createRoot(document.getElementById("playground")).render(
  React.createElement(GraphiQL, { fetcher: ask, defaultQuery: firstQuestion, shouldPersistHeaders: false, isHeadersEditorEnabled: false }),
);
