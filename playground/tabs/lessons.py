"""The lessons: stations with a live panel beside the text, and questions."""

from __future__ import annotations

from playground.course.panel import CoursePanel

TAB = CoursePanel()
