// The lesson plan: what to set up, what to do, what to ask, and what the answer is.

import { make, one } from "./dom.js";

export const LESSONS = [
  {
    title: "The rule",
    preset: "worked",
    task: "Step through the six points. Before each step, have somebody compute y·(w·x) by hand.",
    question: "Why does the very first point count as a mistake?",
    answer: "w is 0, the score is 0, and “I don't know” is a mistake. Otherwise nothing would ever be learned. There are three mistakes, and w goes (0, 0), (1, −2), (2, −1), (3, 1).",
  },
  {
    title: "Why it ends",
    preset: "clouds",
    task: "Run, and watch both charts: ‖w‖² stays under a line, w·w* above another one.",
    question: "Which inequality forces the run to end?",
    answer: "k·γ ≤ w·w* ≤ ‖w‖ ≤ R·√k. The left side grows faster than the right one, so k ≤ (R/γ)².",
  },
  {
    title: "The order",
    preset: "clouds",
    settings: { order: "worst" },
    task: "Run with each order, and with other seeds. Write down the mistakes.",
    question: "Which order is best? Which of them can exceed the bound?",
    answer: "None is best on all data. None can exceed the bound: the proof never asks which mistake comes next.",
  },
  {
    title: "A thin street",
    preset: "thin",
    task: "Run. Then drag one of the ringed points across the street and back, slowly.",
    question: "What happens to the bound when the street becomes half as wide?",
    answer: "It becomes about four times as large: the margin enters squared. Points off the kerb change nothing.",
  },
  {
    title: "The worst case",
    preset: "worst8",
    task: "Run with K = 8, then load K = 32. Four short points, and yet …",
    question: "How do the mistakes grow with K? How many bits does it take to write K?",
    answer: "Four times as large a K makes about nineteen times as many mistakes (103, then 1,927), but takes only two bits more. Mistakes grow exponentially with the length of the input; the rescaled perceptron needs only polynomially many.",
  },
  {
    title: "Not separable",
    preset: "xor",
    task: "Run, and stop when you believe it. Then move one corner until the verdict changes.",
    question: "How can one prove that no line exists, without trying all lines?",
    answer: "Show one point that is an average of orange points and also of blue points. A line would need it on both sides.",
  },
  {
    title: "Almost",
    preset: "touching",
    task: "Move the blue point on the edge up or down by the smallest step.",
    question: "What lies between separable and inseparable?",
    answer: "Hulls that touch: a line is right on all points but those on it. One step down it is separable, one step up inseparable. Floating-point guesses fail here; this page computes in whole numbers.",
  },
  {
    title: "Kernels",
    preset: "rings",
    settings: { kernel: "polynomial", degree: 2 },
    task: "Run with the polynomial kernel, then with the Gaussian one. Try XOR, too.",
    question: "Which points are in the sum that draws the border?",
    answer: "Only those on which mistakes were made. The score is a sum of kernels over them; φ(x) is never computed.",
  },
];

/** Write the plan; `setUp` is called with the lesson whose button is pressed. */
export function writeLessons(setUp) {
  one("#lessons").append(...LESSONS.map((lesson, k) => {
    const { title, task, question, answer } = lesson;
    const button = make("button", { type: "button", "aria-label": `Set up lesson ${k + 1}: ${title}` }, "Set up");
    button.addEventListener("click", () => setUp(lesson));
    const more = make("details", {}, make("summary", {}, question), make("p", {}, answer));
    return make("li", {}, make("div", { class: "head" }, make("h3", {}, title), button), make("p", {}, task), more);
  }));
}
