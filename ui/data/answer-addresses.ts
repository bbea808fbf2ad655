/** The operations that answer a request, and their addresses over REST, for the end of a page. */
export const ANSWER_ADDRESSES = {
  'request.answer': '/api/teams/:teamId/requests/:requestId/answer',
  'plan.approve': '/api/teams/:teamId/plans/:requestId/approve',
  'plan.reject': '/api/teams/:teamId/plans/:requestId/reject',
} as const;
